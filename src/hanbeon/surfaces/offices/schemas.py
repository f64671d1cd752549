"""What an office answers, with the names that clients rely on. Times are ISO-8601 in the zone of the installation."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.surfaces.offices.config import JobSchedulerConfig
from hanbeon.surfaces.offices.vocabulary import (
    DeliveryStatus,
    EventType,
    ExecutionStatus,
    JobStatus,
    MessageType,
    WebhookState,
)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    key: str | None
    office_id: str
    task_id: str | None
    role: str | None
    title: str | None
    status: JobStatus
    priority: int
    urgent: bool
    depends_on: list[str]
    blocked_by: list[str]
    retry_count: int
    timeout_ms: int | None
    progress: Any
    result: Any
    error_message: str | None
    failure_type: str | None
    created_at: str
    started_at: str | None
    completed_at: str | None
    cancelled_at: str | None


class JobExecution(msgspec.Struct, frozen=True, kw_only=True):
    job_id: str
    attempt: int
    started_at: str
    timeout_at: str | None
    session_id: str
    status: ExecutionStatus
    completed_at: str | None = None
    error_message: str | None = None


class JobDetail(Job, frozen=True, kw_only=True):
    executions: list[JobExecution]


class JobPage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[Job]
    next_cursor: str | None


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """Without its secret, which is never told again. A disabled one is sent nothing, and what it missed waits."""

    id: str
    url: str
    events: list[EventType] | None
    state: WebhookState
    disabled_at: str | None
    consecutive_failures: int
    last_error: str | None
    last_failure_at: str | None
    last_success_at: str | None


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A message on its way to a webhook; `id` is the `webhook-id` that it is sent with, at every try.

    Behind one that tries the webhook out there is neither an event nor a job.
    """

    id: str
    event_id: int | None
    type: MessageType
    job_id: str | None
    status: DeliveryStatus
    attempts: int
    error_message: str | None
    next_attempt_at: str | None
    created_at: str
    delivered_at: str | None


class DeliveryPage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[Delivery]
    next_cursor: str | None


class Office(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    config: JobSchedulerConfig
    sessions: dict[str, str]
    notifications: list[str]
    webhooks: list[Webhook]
    version: int
    created_at: str
    changed_at: str


class OfficePage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[Office]
    next_cursor: str | None


class VersionedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A config, and the version of its office that it is of."""

    config: JobSchedulerConfig
    version: int


class JobQueueStats(msgspec.Struct, frozen=True, kw_only=True):
    office_id: str
    pending: int
    ready: int
    processing: int
    done: int
    failed: int
    cancelled: int
    avg_completion_time: float


class Processed(msgspec.Struct, frozen=True, kw_only=True):
    """What a scheduling cycle did."""

    activated: int
    started: int
    available_slots: int


class CancelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A cancelled job; `stopping`: its work has been told to stop, and it is cancelled when that has."""

    job: Job
    stopping: bool


class CancelledAll(msgspec.Struct, frozen=True, kw_only=True):
    cancelled: list[str]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Each reason has a `code`, a `text`, and what it speaks of."""

    runnable: bool
    reasons: list[dict[str, Any]]


class LogEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line; or, with `lines`, that so many from this one on were not kept."""

    attempt: int
    line: int
    at: str | None = None
    stream: str | None = None
    text: str | None = None
    unended: bool = False
    lines: int | None = None


class Log(msgspec.Struct, frozen=True, kw_only=True):
    entries: list[LogEntry]
    after: str
    more: bool


class Node(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    key: str | None
    title: str | None
    role: str | None
    task_id: str | None
    status: JobStatus


class Edge(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """`to` waits for `from`."""

    source: str
    target: str


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """A page of jobs with what they depend on, which may stand on a page before."""

    nodes: list[Node]
    edges: list[Edge]
    next_cursor: str | None


class SchedulerEvent(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    type: EventType
    job_id: str
    office_id: str
    details: dict[str, Any]
    timestamp: str


class EventPage(msgspec.Struct, frozen=True, kw_only=True):
    """Go on behind `after`, which may be beyond the last of these; `more`: at once."""

    items: list[SchedulerEvent]
    after: int
    more: bool
