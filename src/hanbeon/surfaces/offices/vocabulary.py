"""Statuses and event types of offices: total maps from the engine's, so that none can be forgotten."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

from hanbeon.domain.lifecycle import PHASES, TERMINAL, AttemptStatus, Phase, Reason, Selection, State, selection, total


class JobStatus(enum.StrEnum):
    PENDING = "pending"
    READY = "ready"
    PROCESSING = "processing"
    TIMEOUT = "timeout"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ExecutionStatus(enum.StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class EventType(enum.StrEnum):
    JOB_READY = "job_ready"
    JOB_STARTED = "job_started"
    JOB_COMPLETED = "job_completed"
    JOB_FAILED = "job_failed"
    JOB_TIMEOUT = "job_timeout"
    JOB_RETRYING = "job_retrying"
    JOB_CANCELLED = "job_cancelled"


class MessageType(enum.StrEnum):
    """Types of messages to webhooks: those of events, and the test message."""

    JOB_READY = EventType.JOB_READY.value
    JOB_STARTED = EventType.JOB_STARTED.value
    JOB_COMPLETED = EventType.JOB_COMPLETED.value
    JOB_FAILED = EventType.JOB_FAILED.value
    JOB_TIMEOUT = EventType.JOB_TIMEOUT.value
    JOB_RETRYING = EventType.JOB_RETRYING.value
    JOB_CANCELLED = EventType.JOB_CANCELLED.value
    WEBHOOK_TEST = "webhook_test"


class WebhookState(enum.StrEnum):
    ENABLED = "enabled"
    DISABLED = "disabled"


class DeliveryStatus(enum.StrEnum):
    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATUS: Mapping[Phase, JobStatus] = total(
    Phase,
    {
        Phase.PENDING: JobStatus.PENDING,
        Phase.READY: JobStatus.READY,
        Phase.RUNNING: JobStatus.PROCESSING,
        Phase.OVERDUE: JobStatus.TIMEOUT,
        Phase.SUCCEEDED: JobStatus.DONE,
        Phase.FAILED: JobStatus.FAILED,
        Phase.CANCELLED: JobStatus.CANCELLED,
    },
)
FINISHED = frozenset(STATUS[PHASES[state]] for state in TERMINAL)
PHASE: Mapping[JobStatus, Phase] = total(JobStatus, {status: phase for phase, status in STATUS.items()})

EXECUTION: Mapping[AttemptStatus, ExecutionStatus] = total(
    AttemptStatus,
    {
        AttemptStatus.RUNNING: ExecutionStatus.RUNNING,
        AttemptStatus.COMPLETED: ExecutionStatus.COMPLETED,
        AttemptStatus.FAILED: ExecutionStatus.FAILED,
        AttemptStatus.TIMEOUT: ExecutionStatus.TIMEOUT,
        AttemptStatus.CANCELLED: ExecutionStatus.CANCELLED,
        AttemptStatus.LOST: ExecutionStatus.FAILED,
        AttemptStatus.RELEASED: ExecutionStatus.CANCELLED,
    },
)

DELIVERY: Mapping[State, DeliveryStatus] = total(
    State,
    {
        State.PENDING: DeliveryStatus.WAITING,
        State.READY: DeliveryStatus.WAITING,
        State.RUNNING: DeliveryStatus.SENDING,
        State.SUCCEEDED: DeliveryStatus.DELIVERED,
        State.FAILED: DeliveryStatus.FAILED,
        State.CANCELLED: DeliveryStatus.CANCELLED,
    },
)

MESSAGE: Mapping[EventType, MessageType] = total(
    EventType, {EventType(each.value): each for each in MessageType if each is not MessageType.WEBHOOK_TEST}
)

# None: no event of offices.
EVENT: Mapping[Reason, EventType | None] = total(
    Reason,
    {
        Reason.ENQUEUED: EventType.JOB_READY,
        Reason.SCHEDULED: None,
        Reason.PROMOTED: EventType.JOB_READY,
        Reason.DISPATCHED: None,
        Reason.CLAIMED: EventType.JOB_STARTED,
        Reason.SUCCEEDED: EventType.JOB_COMPLETED,
        Reason.RETRIED: EventType.JOB_RETRYING,
        Reason.FAILED: EventType.JOB_FAILED,
        Reason.RELEASED: EventType.JOB_READY,
        Reason.POSTPONED: None,
        Reason.OVERDUE: EventType.JOB_TIMEOUT,
        Reason.STOP_REQUESTED: None,
        Reason.STOPPED: EventType.JOB_CANCELLED,
        Reason.CANCELLED: EventType.JOB_CANCELLED,
        Reason.REPLACED: EventType.JOB_CANCELLED,
        Reason.DEPENDENCY_FAILED: EventType.JOB_FAILED,
        Reason.EXPIRED: EventType.JOB_FAILED,
        Reason.REQUEUED: None,
        Reason.REPRIORITISED: None,
        Reason.MARKED_DONE: EventType.JOB_COMPLETED,
    },
)


def status_of_state(state: State) -> JobStatus:
    """The status of a state regardless of deadlines, for counts and errors."""
    return STATUS[PHASES[state]]


def selected(statuses: Iterable[str]) -> Selection:
    """The states of the engine that have these statuses."""
    return selection({PHASE[JobStatus(each)] for each in statuses})
