"""Total maps from the engine's words to those of workflows: a new phase cannot be forgotten here."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from hanbeon.domain.lifecycle import State
from hanbeon.domain.phases import PHASES, Phase, total


class RunStatus(enum.StrEnum):
    """The status of a run. One in a wait, and one whose step will be tried again, is pending."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


STATUS: Mapping[Phase, RunStatus] = total(
    Phase,
    {
        Phase.PENDING: RunStatus.PENDING,
        Phase.READY: RunStatus.PENDING,
        Phase.RUNNING: RunStatus.RUNNING,
        Phase.OVERDUE: RunStatus.RUNNING,
        Phase.SUCCEEDED: RunStatus.COMPLETED,
        Phase.FAILED: RunStatus.FAILED,
        Phase.CANCELLED: RunStatus.FAILED,
    },
)
ENDED = frozenset((RunStatus.COMPLETED, RunStatus.FAILED))


def status_of(state: State) -> RunStatus:
    return STATUS[PHASES[state]]
