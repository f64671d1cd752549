"""Queues that were made with an office or a listener, and stay behind when that is gone, while they have jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hanbeon.domain.statistics import all_states
from hanbeon.store.operations.tallies import stocks
from hanbeon.store.tx import Tx, to_json

_LEAST_US = 86_400 * 1_000_000
"""A day at the least, whatever the retention: whoever was at it when its owner went has ended long since."""
_AT_ONCE = 50
_THEIRS = ("drop_tallies", "drop_timings", "drop_office_batches", "drop_lanes")


async def leave_queues(tx: Tx, names: Collection[str]) -> None:
    """Their owners go with this transaction; those that there are go when nothing of theirs is left."""
    await tx.fetch("mark_orphaned_queues", to_json(sorted(names)), True)


async def take_up_queue(tx: Tx, name: str) -> None:
    """It has an owner again: the request that made the first one came once more."""
    await tx.fetch("mark_orphaned_queues", to_json([name]), False)


async def count_left_queues(tx: Tx, older_than_us: int, going: Mapping[int, int]) -> int:
    """How many there will be to drop when so many jobs of each queue, by its number, have gone."""
    left = await tx.fetch("long_orphaned_queues", _age_us(older_than_us))
    if not left:
        return 0
    jobs = await stocks(tx)
    return sum(sum(all_states(jobs[row["name"]]).values()) == going.get(row["id"], 0) for row in left)


async def drop_left_queues(tx: Tx, older_than_us: int) -> int:
    """Remove some of those that were left so long ago, with their lanes and numbers; how many.

    Only their owners put jobs into them, and those are gone, so nobody uses the lanes that instances remember. A claim
    never waits for this: it finds a queue by its jobs, and there are none.
    """
    rows = await tx.fetch("orphaned_queues", _age_us(older_than_us), _AT_ONCE)
    if rows:
        gone = to_json([row["id"] for row in rows])
        for statement in (*_THEIRS, "drop_queues"):
            await tx.fetch(statement, gone)
    return len(rows)


def _age_us(older_than_us: int) -> int:
    return max(older_than_us, _LEAST_US)
