"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from hanbeon.domain.retry import Backoff
from hanbeon.surfaces.offices.schemas import ConfigChange, JobSpec, NewConfig, WebhookBody, WebhookChange
from hanbeon.surfaces.offices.vocabulary import EventType


class CancelAllFields(TypedDict, total=False):
    """Which unfinished jobs to cancel; without a filter, all of them."""

    task_id: str | None
    statuses: Sequence[str] | None
    role: str | None


class ConfigChangeFields(TypedDict, total=False):
    """The named settings are set, all others stay; null removes a role's limit. Times are milliseconds."""

    maxConcurrentJobs: int
    maxConcurrentByRole: Mapping[str, int | None]
    defaultTimeout: int
    maxRetries: int
    retryBackoff: Backoff | str
    retryBaseDelay: int


class DeliveryQueryFields(TypedDict, total=False):
    """A page of the messages to a webhook."""

    cursor: str | None
    limit: int


class GraphQueryFields(TypedDict, total=False):
    """A page of the graph of jobs."""

    task_id: str | None
    cursor: str | None
    limit: int


class JobBatchFields(TypedDict, total=False):
    """Jobs that are created together, all or none; they have at most 200,000 dependencies in all."""

    jobs: Required[Sequence[JobSpec | Mapping[str, Any]]]


class JobGraphFields(TypedDict, total=False):
    """Jobs that Python callers create together, all or none; there may be none."""

    jobs: Required[Sequence[JobSpec | Mapping[str, Any]]]


class JobMarkDoneFields(TypedDict, total=False):
    """Why a job that failed or was cancelled is done all the same, and its result, if there is one."""

    comment: Required[str]
    result: Any


class JobQueryFields(TypedDict, total=False):
    """A page of the jobs that match every given filter."""

    status: str | Sequence[str] | None
    role: str | None
    task_id: str | None
    cursor: str | None
    limit: int


class JobRetryFields(TypedDict, total=False):
    """A comment for the next attempts of a job that is retried, and other arguments for them."""

    comment: str | None
    args: Mapping[str, Any] | None


class JobSpecFields(TypedDict, total=False):
    """One job; it waits for those that `depends_on` names by key within the batch, or by id."""

    key: str | None
    id: str | None
    task_id: str | None
    role: str | None
    title: str | None
    args: Mapping[str, Any] | None
    priority: int | None
    urgent: bool | None
    depends_on: Sequence[str] | None
    timeout_ms: int | None
    max_retries: int | None
    handler: str | None
    on_dependency_failure: str | None


class LogQueryFields(TypedDict, total=False):
    """A page of a job's log, or of one attempt's."""

    attempt: int | None
    after: str | None
    limit: int


class NewConfigFields(TypedDict, total=False):
    """The settings of a new office; defaults for the rest. Null leaves a role without a limit."""

    maxConcurrentJobs: int | None
    maxConcurrentByRole: Mapping[str, int | None] | None
    defaultTimeout: int | None
    maxRetries: int | None
    retryBackoff: Backoff | str | None
    retryBaseDelay: int | None


class OfficeBodyFields(TypedDict, total=False):
    """A new office. Sessions name the task that runs the jobs of a role; `default` runs all others."""

    name: Required[str]
    config: NewConfig | Mapping[str, Any] | None
    sessions: Mapping[str, str | None] | None
    notifications: Sequence[str] | None
    webhooks: Sequence[WebhookBody | Mapping[str, Any]] | None


class OfficeChangeFields(TypedDict, total=False):
    """Config and sessions are merged, where null removes a role's; notifications and webhooks are replaced."""

    name: str
    config: ConfigChange | Mapping[str, Any]
    sessions: Mapping[str, str | None] | None
    notifications: Sequence[str] | None
    webhooks: Sequence[WebhookChange | Mapping[str, Any]] | None


class OfficeDeletionFields(TypedDict, total=False):
    """With `cancel`, unfinished jobs are cancelled first; without, they are a conflict."""

    cancel: bool


class OfficeQueryFields(TypedDict, total=False):
    """A page of offices."""

    cursor: str | None
    limit: int


class PriorityFields(TypedDict, total=False):
    """Lower runs before higher; urgent before all others."""

    priority: int | None
    urgent: bool | None


class SimulationLimitsFields(TypedDict, total=False):
    """Limits to try instead of the office's; null removes a role's. `assumed_ms`: how long an unknown task runs."""

    maxConcurrentJobs: int | None
    maxConcurrentByRole: Mapping[str, int | None] | None
    assumed_ms: int | None


class WebhookBodyFields(TypedDict, total=False):
    """Signed with `secret`: the bytes of a Standard Webhooks secret, or any text. Without `events` it gets all."""

    url: Required[str]
    secret: Required[str]
    events: Sequence[EventType | str] | None


class WebhookChangeFields(TypedDict, total=False):
    """An existing webhook, found by its id or else its address, keeps address and secret if they are left out."""

    id: str | None
    url: str
    secret: str | None
    events: Sequence[EventType | str] | None
