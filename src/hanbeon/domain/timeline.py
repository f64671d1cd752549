"""The life of a job as a list of moments, put together from its record and its attempts."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.domain.hand_move import HandMove
from hanbeon.domain.job import AttemptRecord, JobRecord
from hanbeon.domain.lifecycle import AttemptStatus, Reason, State

_ENDS = {
    AttemptStatus.COMPLETED: "completed",
    AttemptStatus.FAILED: "failed",
    AttemptStatus.TIMEOUT: "stopped at its deadline",
    AttemptStatus.CANCELLED: "was cancelled",
    AttemptStatus.LOST: "was lost with its worker",
    AttemptStatus.RELEASED: "was handed back",
}


class MomentType(enum.StrEnum):
    """Moments of the job, and with an attempt, of that."""

    CREATED = "created"
    DUE = "due"
    STARTED = "started"
    DISPATCHED = "dispatched"
    STOP_REQUESTED = "stop_requested"
    DEADLINE = "deadline"
    RETRY = "retry"
    COMPLETED = "completed"
    TIMEOUT = "timeout"
    LOST = "lost"
    RELEASED = "released"
    SUCCEEDED = "succeeded"
    MARKED_DONE = "marked_done"
    REQUEUED = "requeued"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Moment(msgspec.Struct, frozen=True):
    at: int
    type: MomentType
    text: str
    attempt: int | None = None
    user: str | None = None
    """Of a move by hand, as its comment and what else of the job it changed."""
    comment: str | None = None
    changes: dict[str, Any] | None = None


_BY_HAND = {
    Reason.MARKED_DONE: (MomentType.MARKED_DONE, "marked as done"),
    Reason.REQUEUED: (MomentType.REQUEUED, "retried"),
}


def timeline(job: JobRecord, attempts: Sequence[AttemptRecord], hand_moves: Sequence[HandMove] = ()) -> list[Moment]:
    """Return the moments in order. Events are not read: they are not kept by job."""
    moments = [Moment(job.created_at, MomentType.CREATED, f"created in queue {job.queue!r}")]
    if job.run_at > job.created_at and not attempts and job.state is State.PENDING:
        moments.append(Moment(job.run_at, MomentType.DUE, "may run from here on"))
    for each in attempts:
        moments.append(_started(each.attempt, each.started_at))
        why = "" if each.failure_type is None else f" ({each.failure_type}): {each.message or ''}".rstrip(": ")
        text = f"attempt {each.attempt} {_ENDS[each.status]}{why}"
        moments.append(Moment(each.ended_at, MomentType(each.status), text, each.attempt))
    if job.dispatched_at is not None:
        moments.append(
            Moment(job.dispatched_at, MomentType.DISPATCHED, f"attempt {job.fence} sent to stream workers", job.fence)
        )
    if job.state is State.RUNNING and job.started_at is not None:
        moments.append(_started(job.fence, job.started_at))
        if job.stop_requested_at is not None:
            moments.append(Moment(job.stop_requested_at, MomentType.STOP_REQUESTED, "stop requested", job.fence))
        if job.deadline_at is not None:
            moments.append(
                Moment(job.deadline_at, MomentType.DEADLINE, f"attempt {job.fence} is stopped then", job.fence)
            )
    elif job.state is State.PENDING and attempts and job.run_at > attempts[-1].ended_at:
        moments.append(Moment(job.run_at, MomentType.RETRY, f"tried again then, after {job.retry_count} retries"))
    if job.finished_at is not None:
        replaced = "" if job.replaced_by is None else f", replaced by job {job.replaced_by}"
        moments.append(Moment(job.finished_at, MomentType(job.state), f"{job.state.value}{replaced}"))
    moments += [_by_hand(each) for each in hand_moves]
    return sorted(moments, key=lambda moment: moment.at)


def _by_hand(move: HandMove) -> Moment:
    kind, what = _BY_HAND[move.reason]
    by = "" if move.user is None else f" by {move.user}"
    why = "" if move.comment is None else f": {move.comment}"
    text = f"{what}{by}{' with other arguments' if 'args' in move.changes else ''}{why}"
    return Moment(move.at, kind, text, user=move.user, comment=move.comment, changes=move.changes or None)


def _started(attempt: int, at: int) -> Moment:
    return Moment(at, MomentType.STARTED, f"attempt {attempt} started", attempt)
