"""What clients send to offices, for the description of the API. It is the surface that reads and checks it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.job import NAME_LIMIT, PRIORITY_MAX, PRIORITY_MIN, RETRIES_MAX, OnDependencyFailure
from hanbeon.domain.log import PAGE_LINES
from hanbeon.domain.retry import Backoff
from hanbeon.surfaces.offices.config import LIMIT_MAX, LONGEST_MS
from hanbeon.surfaces.offices.job_plan import BATCH_MOST, TITLE_BYTES
from hanbeon.surfaces.offices.schemas import Job
from hanbeon.surfaces.offices.vocabulary import EventType
from hanbeon.surfaces.validation import CURSOR_DIGITS, PAGE_MOST

# The database keeps no NUL.
_STORABLE = r"^[^\x00]*$"
_UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
Name = Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT, pattern=_STORABLE)]
NameOrEmpty = Annotated[str, Meta(max_length=NAME_LIMIT, pattern=_STORABLE)]
JobId = Annotated[str, Meta(pattern=_UUID)]
Milliseconds = Annotated[int, Meta(ge=1, le=LONGEST_MS)]
Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX)]
PageSize = Annotated[int, Meta(ge=1, le=PAGE_MOST)]
LogLines = Annotated[int, Meta(ge=1, le=PAGE_LINES)]
LogPlace = Annotated[str, Meta(pattern="^[0-9]{1,18}:[0-9]{1,18}$")]
Attempt = Annotated[int, Meta(ge=1, le=2**63 - 1)]
EventId = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Cursor = Annotated[str, Meta(pattern=f"^[0-9]{{1,{CURSOR_DIGITS}}}$")]
Unfinished = Literal["pending", "processing", "ready", "timeout"]


class WebhookBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Signed with `secret`, base64 of 24 to 64 bytes, also behind `whsec_`; without `events` it gets all of them."""

    url: str
    secret: str
    events: list[EventType] | None = None


class WebhookChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One that names the id or the address of a webhook that is there is that one, and keeps what is not said."""

    id: str | None = None
    url: str | None = None
    secret: str | None = None
    events: list[EventType] | None = None


class ConfigChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is named is set, all else stays; a role's limit is taken away by null. Times are milliseconds."""

    maxConcurrentJobs: Limit | UnsetType = UNSET
    maxConcurrentByRole: dict[Name, Limit | None] | UnsetType = UNSET
    defaultTimeout: Milliseconds | UnsetType = UNSET
    maxRetries: Annotated[int, Meta(ge=0, le=RETRIES_MAX)] | UnsetType = UNSET
    retryBackoff: Backoff | UnsetType = UNSET
    retryBaseDelay: Annotated[int, Meta(ge=0, le=LONGEST_MS)] | UnsetType = UNSET


class OfficeChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Sessions name the task that runs the jobs of a role, or of all others with `default`; null takes one away."""

    name: Name | UnsetType = UNSET
    sessions: dict[Name, Name | None] | None = None
    notifications: list[str] | None = None
    webhooks: list[WebhookChange] | None = None


class OfficeBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    config: ConfigChange | None = None
    sessions: dict[Name, Name | None] | None = None
    notifications: list[str] | None = None
    webhooks: list[WebhookBody] | None = None


class JobBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One job; it waits for those that `depends_on` names by key within the batch, or by id."""

    key: Name | None = None
    id: JobId | None = None
    task_id: Name | None = None
    role: NameOrEmpty | None = None
    title: Annotated[str, Meta(max_length=TITLE_BYTES, pattern=_STORABLE)] | None = None
    args: dict[str, Any] | None = None
    priority: Annotated[int, Meta(ge=PRIORITY_MIN, le=PRIORITY_MAX)] | None = None
    urgent: bool | None = None
    depends_on: list[str] | None = None
    timeout_ms: Milliseconds | None = None
    max_retries: Annotated[int, Meta(ge=0, le=RETRIES_MAX)] | None = None
    handler: Name | None = None
    on_dependency_failure: OnDependencyFailure | None = None


class JobBatch(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    jobs: Annotated[list[JobBody], Meta(max_length=BATCH_MOST)]


class JobsMade(msgspec.Struct, kw_only=True):
    """In the order in which they were asked for."""

    jobs: list[Job]


class CancelAll(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which unfinished jobs; none of these means all."""

    task_id: NameOrEmpty | None = None
    statuses: list[Unfinished] | None = None
    role: NameOrEmpty | None = None


class Priority(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Lower before higher; urgent before all others."""

    priority: Annotated[int, Meta(ge=PRIORITY_MIN, le=PRIORITY_MAX)] | None = None
    urgent: bool | None = None
