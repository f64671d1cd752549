"""The life of a job as a list of moments, put together from its record and its attempts."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from hanbeon.domain.job import AttemptRecord, JobRecord
from hanbeon.domain.lifecycle import AttemptStatus, State

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
    FAILED = "failed"
    CANCELLED = "cancelled"


class Moment(msgspec.Struct, frozen=True):
    at: int
    type: MomentType
    text: str
    attempt: int | None = None


def timeline(job: JobRecord, attempts: Sequence[AttemptRecord]) -> list[Moment]:
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
    return sorted(moments, key=lambda moment: moment.at)


def _started(attempt: int, at: int) -> Moment:
    return Moment(at, MomentType.STARTED, f"attempt {attempt} started", attempt)
