"""What an end of one job means for those that wait for it; costs its out-edges, never a scan."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.retry import FailureType
from hanbeon.store.operations.emit import emit
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json

_MESSAGE = "A job it depends on failed or was cancelled"


async def meet_dependents(tx: Tx, book: LaneCache, succeeded: Sequence[int]) -> None:
    """Count the successes down at the jobs behind them and promote those that now wait for nothing."""
    if not await tx.fetch("lock_dependents", to_json(succeeded)):
        return
    rows = await tx.fetch("meet_dependents", to_json(succeeded))
    free = [row["seq"] for row in rows if row["unmet"] == 0 and row["state"] == State.PENDING]
    if free and await promote_these(tx, book, free) < len(free):
        tx.wake("later")  # Some have a time to wait for, of which no promoter knew until now.


async def promote_these(tx: Tx, book: LaneCache, seqs: Sequence[int]) -> int:
    """pending → ready for those that are due and wait for nothing."""
    rows = await tx.fetch("promote_these", to_json(seqs))
    await emit(tx, book, rows, Reason.PROMOTED, State.READY)
    if rows:
        tx.wake("work")
    return len(rows)


async def fail_dependents(tx: Tx, book: LaneCache, ended: Sequence[int]) -> list[str]:
    """Fail those told to fail with the given jobs, with everything behind them; their ids."""
    locked = [row["seq"] for row in await tx.fetch("failing_dependents", to_json(ended))]
    if not locked:
        return []
    rows = await tx.fetch("fail_dependents", to_json(locked), _MESSAGE)
    failure_type = FailureType.DEPENDENCY_FAILED.value
    await emit(tx, book, rows, Reason.DEPENDENCY_FAILED, State.FAILED, failure_type=failure_type, message=_MESSAGE)
    return [str(row["id"]) for row in rows]
