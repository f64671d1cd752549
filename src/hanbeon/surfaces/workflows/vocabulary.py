"""The words of workflows, as users, the API and the database write them, and total maps from the engine's to them."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from hanbeon.domain.job import ON_EVERY_WORKER
from hanbeon.domain.lifecycle import PHASES, Phase, State, total
from hanbeon.domain.reserved_queues import ReservedQueue, reserve_queue

PREFIX = "hanbeon.workflow"
TASK = f"{PREFIX}{ON_EVERY_WORKER}"
"""The task of a run."""
_REMEDY = "create a workflow"
QUEUE = reserve_queue(ReservedQueue("workflows", "workflows", _REMEDY))
"""The queue of runs, and of nothing else: its counts are those of the monitor."""
STEP_QUEUE = reserve_queue(ReservedQueue("workflow-tasks", "workflows", _REMEDY))
"""The queue of the jobs that `task` steps wait for."""
NOTICE_TASK = "hanbeon.workflow_notice"
NOTICE_QUEUE = reserve_queue(ReservedQueue("workflow-notices", "workflows", _REMEDY))


class WorkflowStatus(enum.StrEnum):
    DRAFT = "draft"
    ACTIVE = "active"
    PAUSED = "paused"


class Mode(enum.StrEnum):
    IMMEDIATE = "immediate"
    DELAYED = "delayed"
    SCHEDULED = "scheduled"
    RECURRING = "recurring"


class Frequency(enum.StrEnum):
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"


class StepType(enum.StrEnum):
    MESSAGE = "message"
    HTTP = "http"
    WAIT = "wait"
    TASK = "task"


class OnError(enum.StrEnum):
    STOP = "stop"
    CONTINUE = "continue"


class StepStatus(enum.StrEnum):
    """The status of a step that has begun. `unknown`: its attempt was cut off, and nobody saw how it ended."""

    RUNNING = "running"
    WAITING = "waiting"
    RETRYING = "retrying"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class DeliveryStatus(enum.StrEnum):
    """The status of the message to one recipient. `unknown`: it was cut off while it was being sent."""

    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"


class RunKind(enum.StrEnum):
    REGISTERED = "registered"
    MANUAL = "manual"


class RunEnd(enum.StrEnum):
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


STEP_ENDED = frozenset((StepStatus.COMPLETED, StepStatus.FAILED))


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
