"""What clients send to offices, for the description of the API. It is the surface that reads and checks it."""

from __future__ import annotations

import msgspec

from hanbeon.surfaces.offices.config import JobSchedulerConfig
from hanbeon.surfaces.offices.shapes import Job
from hanbeon.surfaces.offices.specs import JobSpec
from hanbeon.surfaces.offices.vocabulary import EventType, JobStatus


class WebhookBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    url: str
    secret: str
    events: list[EventType] | None = None


class OfficeChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Sessions name the task that runs the jobs of a role, or of all others with `default`; null takes one away."""

    name: str | None = None
    sessions: dict[str, str | None] | None = None
    notifications: list[str] | None = None
    webhooks: list[WebhookBody] | None = None


class OfficeBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: str
    config: JobSchedulerConfig | None = None
    sessions: dict[str, str] | None = None
    notifications: list[str] | None = None
    webhooks: list[WebhookBody] | None = None


class JobBatch(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    jobs: list[JobSpec]


class JobsMade(msgspec.Struct, kw_only=True):
    """In the order in which they were asked for."""

    jobs: list[Job]


class CancelAll(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which unfinished jobs; none of these means all."""

    task_id: str | None = None
    statuses: list[JobStatus] | None = None
    role: str | None = None


class Priority(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Lower before higher; urgent before all others."""

    priority: int | None = None
    urgent: bool | None = None
