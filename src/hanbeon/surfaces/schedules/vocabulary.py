"""The engine's words and those of schedules: total maps, so that a new state cannot be forgotten here."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping

from hanbeon.domain.lifecycle import State
from hanbeon.domain.phases import PHASES, Phase, total
from hanbeon.errors import InvalidInput
from hanbeon.tasks.options import did_you_mean

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


def status_of(state: State) -> ExecutionStatus:
    return STATUS[PHASES[state]]


def states_of(words: Collection[str], field: str) -> tuple[State, ...]:
    """What the engine is asked for when executions of these statuses are."""
    for word in words:
        if word not in list(ExecutionStatus):
            hint = did_you_mean(str(word)[:40].upper(), list(ExecutionStatus)) or "."
            raise InvalidInput(f"{str(word)[:40]!r} does not fit{hint} Use {', '.join(ExecutionStatus)}", field=field)
    return tuple(state for state in State if status_of(state) in words)


def error_code(state: State, failure_type: str | None) -> str | None:
    """Why an execution failed, in one word."""
    if state is State.CANCELLED:
        return CANCELLED
    return failure_type.upper() if state is State.FAILED and failure_type else None
