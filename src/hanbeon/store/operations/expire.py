"""Jobs that must have ended by an instant: a row beside each of these, found by an index when the instant has come."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.outcome import EXPIRED_MESSAGE
from hanbeon.domain.retry import FailureType
from hanbeon.store.operations.dependencies import fail_dependents
from hanbeon.store.operations.dispatches import close_dispatches
from hanbeon.store.operations.end_hooks import run_end_hooks
from hanbeon.store.operations.events import emit
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx, to_json

_WAITING = (State.PENDING, State.READY)


async def write_expiries(tx: Tx, jobs: Sequence[NewJob], made: Mapping[str, Any]) -> None:
    """Note when those of these jobs expire that were created just now: `made` has their rows by id."""
    rows = [
        {"job": made[job.id]["seq"], "at": job.expiry(made[job.id]["created_at"])}
        for job in jobs
        if job.expires and job.id in made
    ]
    if rows:
        await tx.fetch("insert_expiries", to_json(rows))
        tx.wake("later")  # A promoter must learn the instant.


async def expire(tx: Tx, lanes: LaneCache, limit: int) -> int:
    """Fail the jobs that have expired while they waited, and stop those that run; return how many were looked at.

    A running one is stopped like by a timeout, and fails when its work has stopped; one that a user has stopped already
    ends as cancelled.
    """
    rows = await tx.fetch("expiring", limit)
    if not rows:
        return 0
    waiting = [row for row in rows if row["state"] in _WAITING]
    running = [row for row in rows if row["state"] == State.RUNNING and row["stop_requested_at"] is None]
    stopped = {row["seq"] for row in running}
    closed = [{"job": row["seq"], "fence": row["fence"] if row["seq"] in stopped else None} for row in rows]
    await tx.fetch("close_expiries", to_json(closed))
    if waiting:
        await _fail(tx, lanes, waiting)
    if running:
        await tx.fetch("stop_expired", to_json([row["seq"] for row in running]))
        overdue = [row for row in running if row["deadline_at"] is None or row["deadline_at"] > row["now"]]
        await emit(tx, lanes, overdue, Reason.OVERDUE, State.RUNNING, of_attempts=True)
        tx.wake("stop")
    sent = [row["seq"] for row in (*waiting, *running) if row["dispatched_at"] is not None]
    if sent:
        await close_dispatches(tx, sent, stop=True)
    return len(rows)


async def _fail(tx: Tx, lanes: LaneCache, locked: Sequence[Any]) -> None:
    rows = await tx.fetch("expire", to_json([row["seq"] for row in locked]), EXPIRED_MESSAGE)
    was = {row["seq"]: State(row["state"]) for row in locked}
    failure_type = FailureType.EXPIRED.value
    await emit(
        tx, lanes, rows, Reason.EXPIRED, State.FAILED, was=was, failure_type=failure_type, message=EXPIRED_MESSAGE
    )
    await fail_dependents(tx, lanes, [row["seq"] for row in rows])
    await run_end_hooks(tx, lanes, rows)


async def expired_among(tx: Tx, rows: Sequence[Any]) -> Collection[int]:
    """Return those of these running jobs that are stopped because they have expired."""
    fences = {row["seq"]: row["fence"] for row in rows if row["stop_requested_at"] is not None}
    if not fences:
        return ()
    found = await tx.fetch("expired_attempts", to_json(list(fences)))
    return {row["job"] for row in found if row["fence"] == fences[row["job"]]}
