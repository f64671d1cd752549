"""The words of fires and executions, with total maps from the engine's states: a new state cannot be forgotten here."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping

from hanbeon.domain.executions import cause_of
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import PHASES, TERMINAL, Phase, State, total
from hanbeon.domain.totals import Total
from hanbeon.surfaces.surface import JobPlace


class FireOutcome(enum.StrEnum):
    """The outcome of a scheduled fire."""

    CREATED = "created"
    SKIPPED = "skipped"
    MISSED = "missed"
    COALESCED = "coalesced"


class FireReason(enum.StrEnum):
    """The reason why a fire created no execution."""

    OVERLAP = "overlap"
    """An execution of the task was unfinished."""
    QUEUE_FULL = "queue_full"
    """One was unfinished, and another was already waiting."""
    LATE = "late"
    """No instance was running when it was due, and the schedule skips such fires."""
    LIMIT = "limit"
    """More were missed than are caught up on."""
    CAUGHT_UP = "caught_up"
    """A later missed fire stands for it."""
    CHANGED = "changed"
    """The schedule's times changed before this fire was processed."""
    PAUSED = "paused"
    DELETED = "deleted"


FIRES = Total("fires", "hanbeon_fires", "Fires of schedules by outcome", ("outcome", "reason"))
"""A line of the history that stands for several fires counts as that many."""


CANCELLED = "CANCELLED"
"""The error code of an execution that was cancelled, which is a failure here."""


class ExecutionStatus(enum.StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


STATUS: Mapping[Phase, ExecutionStatus] = total(
    Phase,
    {
        Phase.PENDING: ExecutionStatus.PENDING,
        Phase.READY: ExecutionStatus.PENDING,
        Phase.RUNNING: ExecutionStatus.RUNNING,
        Phase.OVERDUE: ExecutionStatus.RUNNING,
        Phase.SUCCEEDED: ExecutionStatus.SUCCESS,
        Phase.FAILED: ExecutionStatus.FAILED,
        Phase.CANCELLED: ExecutionStatus.FAILED,
    },
)
FINISHED = frozenset(STATUS[PHASES[state]] for state in TERMINAL)


def status_of(state: State) -> ExecutionStatus:
    return STATUS[PHASES[state]]


def states_of(statuses: Collection[ExecutionStatus]) -> tuple[State, ...]:
    """The engine's states of executions with these statuses."""
    return tuple(state for state in State if status_of(state) in statuses)


def error_code(state: State, failure_type: str | None) -> str | None:
    """The failure of an execution as a code."""
    if state is State.CANCELLED:
        return CANCELLED
    return failure_type.upper() if state is State.FAILED and failure_type else None


def place_of_job(job: JobRecord) -> JobPlace | None:
    """Return where operators find a job that is an execution."""
    return None if cause_of(job.idempotency_key) is None else JobPlace(f"/api/executions/{job.id}")
