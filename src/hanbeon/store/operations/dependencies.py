"""Effects of a job's end on its dependents; costs the out-edges of the job, never a scan."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.retry import FailureType
from hanbeon.store.operations.emit import emit
from hanbeon.store.operations.end_hooks import run_end_hooks
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json

_MESSAGE = "A job it depends on failed or was cancelled"


async def meet_dependents(tx: Tx, lanes: LaneCache, succeeded: Sequence[int]) -> None:
    """Decrement the unmet counts of the dependents and promote those that now wait for nothing."""
    locked = await tx.fetch("lock_dependents", to_json(succeeded))
    if not locked:
        return
    tx.expect(len(locked))
    rows = await tx.fetch("meet_dependents", to_json(succeeded))
    free = [row["seq"] for row in rows if row["unmet"] == 0 and row["state"] == State.PENDING]
    if free and await promote_these(tx, lanes, free) < len(free):
        tx.wake("later")  # Some have a time to wait for, which no promoter knew until now.


async def promote_these(tx: Tx, lanes: LaneCache, seqs: Sequence[int]) -> int:
    """pending → ready for those that are due and have no unmet dependencies; return how many."""
    rows = await tx.fetch("promote_these", to_json(seqs))
    await emit(tx, lanes, rows, Reason.PROMOTED, State.READY)
    if rows:
        tx.wake("work")
    return len(rows)


async def fail_dependents(tx: Tx, lanes: LaneCache, ended: Sequence[int]) -> list[str]:
    """Fail the dependents whose policy is to fail with the given jobs, transitively; return their ids."""
    locked = [row["seq"] for row in await tx.fetch("failing_dependents", to_json(ended))]
    if not locked:
        return []
    tx.expect(len(locked))
    rows = await tx.fetch("fail_dependents", to_json(locked), _MESSAGE)
    failure_type = FailureType.DEPENDENCY_FAILED.value
    await emit(tx, lanes, rows, Reason.DEPENDENCY_FAILED, State.FAILED, failure_type=failure_type, message=_MESSAGE)
    await run_end_hooks(tx, lanes, rows)
    return [str(row["id"]) for row in rows]
