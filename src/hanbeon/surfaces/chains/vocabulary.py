"""Total maps from the engine's words to those of chains: a new phase or event cannot be forgotten here."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from hanbeon.domain.lifecycle import State
from hanbeon.domain.phases import PHASES, Phase, total


class StepStatus(enum.StrEnum):
    """How far the job of a step is, in explanations."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


STATUS: Mapping[Phase, StepStatus] = total(
    Phase,
    {
        Phase.PENDING: StepStatus.WAITING,
        Phase.READY: StepStatus.WAITING,
        Phase.RUNNING: StepStatus.RUNNING,
        Phase.OVERDUE: StepStatus.RUNNING,
        Phase.SUCCEEDED: StepStatus.SUCCESS,
        Phase.FAILED: StepStatus.FAILED,
        Phase.CANCELLED: StepStatus.FAILED,
    },
)


def status_of(state: State) -> StepStatus:
    return STATUS[PHASES[state]]
