"""The words of chains, as users, the API and the database write them, and total maps from the engine's to them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from hanbeon.domain.lifecycle import PHASES, Phase, State, total
from hanbeon.domain.totals import Total

NO_OPERATION: Final = "NO_OPERATION"
EMPTY_ARGS: Final = "EMPTY_ARGS"
UNINIT: Final = "UNINIT"
UNLINK: Final = "UNLINK"
HEAD: Final = "HEAD"
TAIL: Final = "TAIL"
QUEUE_NOT_RUNNING: Final = "QUEUE_NOT_RUNNING"
NOTYET: Final = "NOTYET"
NOLIB: Final = "NOLIB"
CANCELED_SUFFIX: Final = ", CANCELED"
FAILED_SUFFIX: Final = ", FAILED"
EXPIRED_SECONDS: Final = 30


class ChainState(enum.StrEnum):
    """The state of a chain. BLOCKED: a backward operation failed, and the chain waits for a person."""

    EMPTY = "EMPTY"
    READY = "READY"
    RUNNING = "RUNNING"
    BLOCKED = "BLOCKED"


class Direction(enum.StrEnum):
    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"


class StepOutcome(enum.StrEnum):
    """How an operation ended; of a forward operation, also the state of its job."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"


class OnUnknown(enum.StrEnum):
    """Handling of a forward operation whose worker was lost: run it again, or undo it."""

    RETRY = "retry"
    COMPENSATE = "compensate"


class OnBackwardFailure(enum.StrEnum):
    """Handling of a backward operation that failed: undo the rest, or wait for a person."""

    CONTINUE = "continue"
    STOP = "stop"


class ChainEventType(enum.StrEnum):
    """One event for each thing that happens to a chain while it runs."""

    STARTED = "chain_started"
    STEP_ENDED = "chain_step_ended"
    STEP_LOST = "chain_step_lost"
    TURNED = "chain_turned"
    BLOCKED = "chain_blocked"
    RESUMED = "chain_resumed"
    ABORTED = "chain_aborted"
    ENDED = "chain_ended"


LOSSES = Total(
    "chain_losses",
    "hanbeon_chain_losses",
    "Backward operations of chains lost with their workers, from the third in a row on",
)


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
