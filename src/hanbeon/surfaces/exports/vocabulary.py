"""Statuses of exports, which the database's view shows as well, and the types of their events."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping

from hanbeon.domain.lifecycle import PHASES, TERMINAL, Phase, State, total


class ExportStatus(enum.StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


STATUS: Mapping[Phase, ExportStatus] = total(
    Phase,
    {
        Phase.PENDING: ExportStatus.QUEUED,
        Phase.READY: ExportStatus.QUEUED,
        Phase.RUNNING: ExportStatus.RUNNING,
        Phase.OVERDUE: ExportStatus.RUNNING,
        Phase.SUCCEEDED: ExportStatus.SUCCEEDED,
        Phase.FAILED: ExportStatus.FAILED,
        Phase.CANCELLED: ExportStatus.CANCELLED,
    },
)


def status_of(state: State) -> ExportStatus:
    return STATUS[PHASES[state]]


def states_of(statuses: Collection[ExportStatus]) -> tuple[State, ...]:
    """The engine's states of exports with these statuses."""
    return tuple(state for state in State if status_of(state) in statuses)


def error_code(state: State, failure_type: str | None) -> str | None:
    """The failure of an export as a code."""
    return failure_type.upper() if state is State.FAILED and failure_type else None


class ExportEventType(enum.StrEnum):
    """The types that the owner's connections get."""

    PROGRESS = "job.progress"
    COMPLETED = "job.completed"
    FAILED = "job.failed"
    CANCELLED = "job.cancelled"


ENDS: Mapping[State, ExportEventType] = {
    State.SUCCEEDED: ExportEventType.COMPLETED,
    State.FAILED: ExportEventType.FAILED,
    State.CANCELLED: ExportEventType.CANCELLED,
}
"""The event of each end."""
assert set(ENDS) == TERMINAL
