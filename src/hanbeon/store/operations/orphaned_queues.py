"""Reserved queues whose owner is gone: they are deleted once they have no jobs left."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hanbeon.domain.reserved_queues import reserved_prefix
from hanbeon.domain.statistics import all_states
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.tallies import stocks
from hanbeon.store.records import queue_of
from hanbeon.store.tx import Tx, to_json

_LEAST_US = 86_400 * 1_000_000
"""At least a day, whatever the retention: transactions that used the queue when its owner went have long ended."""
_QUEUES_A_STEP = 50
_DEPENDENT_ROWS = ("drop_tallies", "drop_timings", "drop_queue_batches", "drop_lanes")


async def leave_queues(tx: Tx, names: Collection[str]) -> None:
    """Mark queues as orphaned: their owners are deleted in this transaction."""
    await tx.fetch("mark_orphaned_queues", to_json(sorted(names)), True)


async def take_up_queue(tx: Tx, name: str) -> None:
    """Unmark a queue that has an owner again: the request that created the first one was repeated."""
    await tx.fetch("mark_orphaned_queues", to_json([name]), False)


async def keep_queues(tx: Tx, lanes: LaneCache, numbers: Collection[int]) -> set[int]:
    """Return those of the lanes whose queue has lost its owner; of the others none loses it before the commit.

    Before any lock on their jobs, as a claim does.
    """
    await lanes.learn(tx, numbers)
    # No other queue has an owner, and a lock on one that has limits keeps its claims waiting.
    owned = {queue_of(number) for number in numbers if reserved_prefix(lanes.name(number).queue) is not None}
    rows = await tx.fetch("keep_queues", to_json(sorted(owned))) if owned else []
    left = {row["id"] for row in rows if row["left_at"] is not None}
    return {number for number in numbers if queue_of(number) in left}


async def count_left_queues(tx: Tx, older_than_us: int, going: Mapping[int, int]) -> int:
    """Count the queues that can be dropped once `going` jobs of each, by queue id, are deleted."""
    left = await tx.fetch("long_orphaned_queues", _age_us(older_than_us))
    if not left:
        return 0
    jobs = await stocks(tx)
    return sum(sum(all_states(jobs[row["name"]]).values()) == going.get(row["id"], 0) for row in left)


async def drop_left_queues(tx: Tx, older_than_us: int) -> int:
    """Delete some queues that were orphaned that long ago, with their lanes and tallies; return how many.

    Only their owners enqueued jobs into them, and those are gone, so the lanes that instances have cached are unused. A
    claim never waits for this: it finds a queue by its jobs, and there are none.
    """
    rows = await tx.fetch("orphaned_queues", _age_us(older_than_us), _QUEUES_A_STEP)
    if rows:
        gone = to_json([row["id"] for row in rows])
        for statement in (*_DEPENDENT_ROWS, "drop_queues"):
            await tx.fetch(statement, gone)
    return len(rows)


def _age_us(older_than_us: int) -> int:
    return max(older_than_us, _LEAST_US)
