"""The classic wrong ways to hold a limit, to be put in the place of the right one inside a worker process.

Each widens the window between the count and the claim by a pause in the database, and so does `right`, which is the
engine as it is: what the wrong ways let through is not the pause's doing.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import msgspec

from hanbeon.domain.limits import QueueLimits, Usage
from hanbeon.store.database import postgres
from hanbeon.store.dialect import Postgres, translate
from hanbeon.store.operations import claim
from hanbeon.store.statements import statement
from hanbeon.store.tx import Tx, to_json

_PAUSE = "SELECT pg_sleep(0.01)"
_LOCK_AND_COUNT = """
WITH locked AS MATERIALIZED (
  SELECT q.id, q.limits FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.id @lock
)
SELECT k.id, k.limits, r.role, r.concurrency_key, count(r.seq) AS running
FROM locked AS k
LEFT JOIN (
  SELECT j.seq, j.lane >> 32 AS queue_id, l.role, l.concurrency_key
  FROM hanbeon.job AS j JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
  WHERE j.state = 'running'
) AS r ON r.queue_id = k.id
GROUP BY k.id, k.limits, r.role, r.concurrency_key
"""
_limits = msgspec.json.Decoder(QueueLimits)


def right() -> None:
    """Lock, then count in the next statement."""
    statements_changed({"pause": _PAUSE}).start()
    _pause_before_taking()


def count_without_lock() -> None:
    """Wrong: count what runs in a snapshot, with nothing that keeps others from counting the same."""
    statements_changed({"pause": _PAUSE, "lock_queues": without("lock_queues", "lock")}).start()
    _pause_before_taking()


def lock_and_count_at_once() -> None:
    """Wrong: the statement waits for the lock, but counts in the snapshot it took before it waited."""
    statements_changed({"pause": _PAUSE, "lock_and_count": translate(_LOCK_AND_COUNT, Postgres)}).start()
    _pause_before_taking()
    count_running = claim._count_running

    async def lock(tx: Tx, queue_ids: list[int]) -> tuple[dict[int, QueueLimits], bool]:
        locked = _Locked()
        for row in await tx.fetch("lock_and_count", to_json(queue_ids)) if queue_ids else ():
            locked[row["id"]] = _limits.decode(row["limits"])
            usage = locked.usage.setdefault(row["id"], Usage())
            if row["running"]:
                usage.add(row["role"], row["concurrency_key"], row["running"])
        return locked, False

    async def count(tx: Tx, limits: dict[int, QueueLimits], name: str = "running_counts") -> dict[int, Usage]:
        return limits.usage if isinstance(limits, _Locked) else await count_running(tx, limits, name)

    patch.object(claim, "_lock_limited", lock).start()
    patch.object(claim, "_count_running", count).start()


class _Locked(dict[int, QueueLimits]):
    """Limits that come with what was counted when they were locked."""

    def __init__(self) -> None:
        super().__init__()
        self.usage: dict[int, Usage] = {}


def statements_changed(texts: dict[str, str]) -> Any:
    """Return a patch that replaces the texts of named statements on PostgreSQL."""

    def changed(name: str, dialect: Any, precondition: str | None = None) -> str:
        return texts.get(name) or statement(name, dialect, precondition)

    return patch.object(postgres, "statement", changed)


def without(name: str, word: str) -> str:
    """Return the text of a statement without one of its locks."""
    lock = Postgres.words[word]
    text = statement(name, Postgres)
    assert text.count(lock) == 1
    return text.replace(lock, "")


def _pause_before_taking() -> None:
    take = claim._take

    async def pause_and_take(tx: Tx, *args: Any) -> Any:
        await tx.fetch("pause")
        return await take(tx, *args)

    patch.object(claim, "_take", pause_and_take).start()
