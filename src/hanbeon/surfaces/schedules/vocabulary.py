"""Total maps from the engine's states to the statuses of executions: a new state cannot be forgotten here."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping

from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.phases import PHASES, Phase, total

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
