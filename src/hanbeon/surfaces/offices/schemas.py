"""Requests and results of offices: the only place where their fields, types and bounds are written."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.bounds import BATCH_EDGES, BATCH_JOBS, JOB_EDGES, ROLES
from hanbeon.domain.job import LONGEST_US, PRIORITY_MAX, PRIORITY_MIN, RETRIES_MAX
from hanbeon.domain.log import PAGE_LINES
from hanbeon.domain.retry import Backoff
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.offices.simulator import Cause
from hanbeon.surfaces.offices.vocabulary import (
    EventType,
    ExecutionStatus,
    JobStatus,
)
from hanbeon.surfaces.offices.webhook_schemas import Delivery as Delivery
from hanbeon.surfaces.offices.webhook_schemas import DeliveryPage as DeliveryPage
from hanbeon.surfaces.offices.webhook_schemas import Webhook as Webhook
from hanbeon.surfaces.schema import (
    STORABLE,
    Cursor,
    Events,
    IdCursor,
    MarkDone,
    Name,
    NameOrEmpty,
    Page,
    PageSize,
    PostBody,
    Request,
    Result,
    Retry,
    Uuid,
)
from hanbeon.surfaces.validation import EXPECTED, PYTHON, SECRET

LISTENERS_MOST = 50
CANCEL_MOST = 100_000
SIMULATED_MOST = 10_000
TITLE_BYTES = 4_000
LIMIT_MAX = 2**31 - 1
LONGEST_MS = LONGEST_US // 1_000
_MINUTE_MS = 60_000
ROLE_LIMITS = {"FE": 1, "BE": 1, "QA": 1, "DevOps": 1}
_ADDRESS_MOST, _SECRET_MOST = 2_000, 200
HOW_TO_MAKE_A_SECRET = Rule("random_base64", low=24, high=64, command="whsec_$(openssl rand -base64 24)")
_A_SECRET = Rule("secret_at_best", most=_SECRET_MOST, best=HOW_TO_MAKE_A_SECRET)
AN_ADDRESS = Rule("hook_address")

Limit = Annotated[int, Meta(ge=1, le=LIMIT_MAX)]
Milliseconds = Annotated[int, Meta(ge=1, le=LONGEST_MS)]
Delay = Annotated[int, Meta(ge=0, le=LONGEST_MS)]
Retries = Annotated[int, Meta(ge=0, le=RETRIES_MAX)]
PriorityNumber = Annotated[int, Meta(ge=PRIORITY_MIN, le=PRIORITY_MAX)]
LogLines = Annotated[int, Meta(ge=1, le=PAGE_LINES)]
LogCursor = Annotated[str, Meta(pattern="^[0-9]{1,18}:[0-9]{1,18}$", extra={EXPECTED: Rule("after_cursor")})]
AttemptNumber = Annotated[int, Meta(ge=1, le=2**63 - 1)]
_A_TITLE = {EXPECTED: Rule("storable_bytes_at_most", high=TITLE_BYTES)}
Title = Annotated[str, Meta(max_length=TITLE_BYTES, pattern=STORABLE, extra=_A_TITLE)]
# Addresses may hold a password.
WebhookAddress = Annotated[str, Meta(max_length=_ADDRESS_MOST, extra={EXPECTED: AN_ADDRESS, SECRET: True})]
WebhookSecret = Annotated[
    str, Meta(min_length=1, max_length=_SECRET_MOST, pattern=STORABLE, extra={EXPECTED: _A_SECRET, SECRET: True})
]
Target = Annotated[
    str,
    Meta(
        max_length=_ADDRESS_MOST,
        pattern=r"^[A-Za-z][A-Za-z0-9+.-]*://\S*$",
        extra={EXPECTED: Rule("notify_address"), SECRET: True},
    ),
]
_LISTENERS = Meta(max_length=LISTENERS_MOST, extra={SECRET: True})
Targets = Annotated[list[Target], _LISTENERS]
EventTypes = Annotated[list[EventType], Meta(max_length=len(EventType))]
_ONE_OR_MORE = ("str | Sequence[str]", "from collections.abc import Sequence")
Statuses = Annotated[list[JobStatus], Meta(extra={PYTHON: _ONE_OR_MORE})]
Unfinished = Literal["pending", "processing", "ready", "timeout"]
OnDependencyFailure = Literal["block", "fail"]
RoleLimits = Annotated[dict[Name, Limit | None], Meta(max_length=ROLES)]
# One more for `default`.
Sessions = Annotated[dict[Name, Name | None], Meta(max_length=ROLES + 1)]
# The bound is that of `JobBatch`: it holds over HTTP, not for Python callers.
DependsOn = Annotated[list[Name], Meta(extra_json_schema={"maxItems": JOB_EDGES})]


# Requests


class ConfigChange(Request, frozen=True, kw_only=True):
    """The named settings are set, all others stay; null removes a role's limit. Times are milliseconds."""

    maxConcurrentJobs: Limit | UnsetType = UNSET
    maxConcurrentByRole: RoleLimits | UnsetType = UNSET
    defaultTimeout: Milliseconds | UnsetType = UNSET
    maxRetries: Retries | UnsetType = UNSET
    retryBackoff: Backoff | UnsetType = UNSET
    retryBaseDelay: Delay | UnsetType = UNSET


class NewConfig(ConfigChange, PostBody, frozen=True, kw_only=True):
    """The settings of a new office; defaults for the rest. Null leaves a role without a limit."""


class WebhookBody(PostBody, frozen=True, kw_only=True):
    """Signed with `secret`: the bytes of a Standard Webhooks secret, or any text. Without `events` it gets all."""

    url: WebhookAddress
    secret: WebhookSecret
    events: EventTypes | UnsetType | None = UNSET


class WebhookChange(Request, frozen=True, kw_only=True):
    """An existing webhook, found by its id or else its address, keeps address and secret if they are left out."""

    id: str | UnsetType | None = UNSET
    url: WebhookAddress | UnsetType = UNSET
    secret: WebhookSecret | UnsetType | None = UNSET
    events: EventTypes | UnsetType | None = UNSET


NewWebhooks = Annotated[list[WebhookBody], _LISTENERS]
ChangedWebhooks = Annotated[list[WebhookChange], _LISTENERS]


class OfficeBody(PostBody, frozen=True, kw_only=True):
    """A new office. Sessions name the task that runs the jobs of a role; `default` runs all others."""

    name: Name
    config: NewConfig | UnsetType | None = UNSET
    sessions: Sessions | UnsetType | None = UNSET
    notifications: Targets | UnsetType | None = UNSET
    webhooks: NewWebhooks | UnsetType | None = UNSET


class OfficeChange(Request, frozen=True, kw_only=True):
    """Config and sessions are merged, where null removes a role's; notifications and webhooks are replaced."""

    name: Name | UnsetType = UNSET
    config: ConfigChange | UnsetType = UNSET
    sessions: Sessions | UnsetType | None = UNSET
    notifications: Targets | UnsetType | None = UNSET
    webhooks: ChangedWebhooks | UnsetType | None = UNSET


class OfficeQuery(Request, frozen=True, kw_only=True):
    """A page of offices."""

    cursor: IdCursor | UnsetType | None = UNSET
    limit: PageSize = 100


class OfficeDeletion(Request, frozen=True, kw_only=True):
    """With `cancel`, unfinished jobs are cancelled first; without, they are a conflict."""

    cancel: bool = False


class JobSpec(PostBody, frozen=True, kw_only=True):
    """One job; it waits for those that `depends_on` names by key within the batch, or by id."""

    # None rather than UNSET: null means the same as leaving a field out, and the digests of stored jobs are made so.
    key: Name | None = None
    id: Uuid | None = None
    task_id: Name | None = None
    role: NameOrEmpty | None = None
    title: Title | None = None
    args: dict[str, Any] | None = None
    priority: PriorityNumber | None = None
    urgent: bool | None = None
    depends_on: DependsOn | None = None
    timeout_ms: Milliseconds | None = None
    max_retries: Retries | None = None
    handler: Name | None = None
    on_dependency_failure: OnDependencyFailure | None = None


class JobGraph(PostBody, frozen=True, kw_only=True):
    """Jobs that Python callers create together, all or none; there may be none."""

    jobs: list[JobSpec]


class JobBatch(PostBody, frozen=True, kw_only=True):
    """Jobs that are created together, all or none; they have at most 200,000 dependencies in all."""

    jobs: Annotated[list[JobSpec], Meta(min_length=1, max_length=BATCH_JOBS)]

    def __post_init__(self) -> None:
        edges = 0
        for number, job in enumerate(self.jobs):
            count = len(job.depends_on or ())
            edges += count
            if count > JOB_EDGES:
                raise InvalidInput(
                    Rule("too_many_dependencies", most=JOB_EDGES, got=count),
                    field=f"jobs[{number}].depends_on",
                )
        if edges > BATCH_EDGES:
            raise InvalidInput(
                Rule("too_many_edges", most=BATCH_EDGES, got=edges),
                field="jobs",
            )


class JobQuery(Request, frozen=True, kw_only=True):
    """A page of the jobs that match every given filter."""

    status: Statuses | UnsetType | None = UNSET
    role: NameOrEmpty | UnsetType | None = UNSET
    task_id: NameOrEmpty | UnsetType | None = UNSET
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize = 100


class CancelAll(PostBody, frozen=True, kw_only=True):
    """Which unfinished jobs to cancel; without a filter, all of them."""

    task_id: NameOrEmpty | UnsetType | None = UNSET
    statuses: list[Unfinished] | UnsetType | None = UNSET
    role: NameOrEmpty | UnsetType | None = UNSET


class Priority(Request, frozen=True, kw_only=True):
    """Lower runs before higher; urgent before all others."""

    priority: PriorityNumber | UnsetType | None = UNSET
    urgent: bool | UnsetType | None = UNSET


class JobRetry(Retry, frozen=True, kw_only=True):
    """A comment for the next attempts of a job that is retried, and other arguments for them."""


class JobMarkDone(MarkDone, frozen=True, kw_only=True):
    """Why a job that failed or was cancelled is done all the same, and its result, if there is one."""


class LogQuery(Request, frozen=True, kw_only=True):
    """A page of a job's log, or of one attempt's."""

    attempt: AttemptNumber | UnsetType | None = UNSET
    after: LogCursor | UnsetType | None = UNSET
    limit: LogLines = 1_000


class GraphQuery(Request, frozen=True, kw_only=True):
    """A page of the graph of jobs."""

    task_id: NameOrEmpty | UnsetType | None = UNSET
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize = 1_000


class SimulationLimits(PostBody, frozen=True, kw_only=True):
    """Limits to try instead of the office's; null removes a role's. `assumed_ms`: how long an unknown task runs."""

    maxConcurrentJobs: Limit | UnsetType = UNSET
    maxConcurrentByRole: RoleLimits | UnsetType = UNSET
    assumed_ms: Milliseconds = _MINUTE_MS


class DeliveryQuery(Request, frozen=True, kw_only=True):
    """A page of the messages to a webhook."""

    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize = 100


# Results


class JobSchedulerConfig(Result, frozen=True, kw_only=True):
    """The settings in force: what was set, and defaults for the rest. Times are milliseconds."""

    maxConcurrentJobs: int = 3
    maxConcurrentByRole: dict[str, int] = msgspec.field(default_factory=lambda: dict(ROLE_LIMITS))
    defaultTimeout: int = 30 * _MINUTE_MS
    maxRetries: int = 2
    retryBackoff: Backoff = Backoff.EXPONENTIAL
    retryBaseDelay: int = _MINUTE_MS

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of the office's queue."""
        return {"max_concurrent": self.maxConcurrentJobs, "roles": dict(self.maxConcurrentByRole)}


class Job(Result, frozen=True, kw_only=True):
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


class JobExecution(Result, frozen=True, kw_only=True):
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


class JobPage(Page[Job], frozen=True, kw_only=True):
    """A page of jobs."""


class Office(Result, frozen=True, kw_only=True):
    id: str
    name: str
    config: JobSchedulerConfig
    sessions: dict[str, str]
    notifications: list[str]
    webhooks: list[Webhook]
    version: int
    created_at: str
    changed_at: str

    def for_readers(self) -> Self:
        return msgspec.structs.replace(self, webhooks=[each.for_readers() for each in self.webhooks])


class OfficePage(Page[Office], frozen=True, kw_only=True):
    """A page of offices."""

    def for_readers(self) -> Self:
        return msgspec.structs.replace(self, items=[each.for_readers() for each in self.items])


class VersionedConfig(Result, frozen=True, kw_only=True):
    """A config and the version of its office."""

    config: JobSchedulerConfig
    version: int


class JobQueueStats(Result, frozen=True, kw_only=True):
    office_id: str
    pending: int
    ready: int
    processing: int
    done: int
    failed: int
    cancelled: int
    avg_completion_time: float


class Processed(Result, frozen=True, kw_only=True):
    """The result of a scheduling cycle."""

    activated: int
    started: int
    available_slots: int


class CancelAnswer(Result, frozen=True, kw_only=True):
    """A cancelled job; `stopping`: its work is being stopped, and it is cancelled once that is done."""

    job: Job
    stopping: bool


class JobsCreated(Result, frozen=True, kw_only=True):
    """The jobs of a batch, in the order of the request."""

    jobs: list[Job]


class CancelledAll(Result, frozen=True, kw_only=True):
    """The ids of the jobs that are cancelled or being stopped; `more`: others match, ask again for them."""

    cancelled: list[str]
    more: bool


class Node(Result, frozen=True, kw_only=True):
    id: str
    key: str | None
    title: str | None
    role: str | None
    task_id: str | None
    status: JobStatus


class Edge(Result, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """`to` waits for `from`."""

    source: str
    target: str


class Graph(Result, frozen=True, kw_only=True):
    """A page of jobs with their dependencies, which may be on a previous page."""

    nodes: list[Node]
    edges: list[Edge]
    next_cursor: str | None


class SimulatedJob(Node, frozen=True, kw_only=True):
    """A job of the critical path, from now on, and what it waited for last; `limit`: for a slot of this setting."""

    start_ms: int
    end_ms: int
    waited_for: Cause | None
    limit: str | None


class AddedSlot(Result, frozen=True, kw_only=True):
    """Limits raised by one, and how long all jobs would take with them."""

    limits: dict[str, int]
    makespan_ms: int


class Simulation(Result, frozen=True, kw_only=True):
    """How long the unfinished jobs take, now and without limits; `never`: jobs left out, `assumed`: never measured."""

    office_id: str
    jobs: int
    never: int
    assumed: int
    makespan_ms: int
    unlimited_ms: int
    ends_at: str
    critical_path: list[SimulatedJob]
    add_slot: AddedSlot | None


class SchedulerEvent(Result, frozen=True, kw_only=True):
    id: int
    type: EventType
    job_id: str
    office_id: str
    details: dict[str, Any]
    timestamp: str


class EventPage(Events[SchedulerEvent], frozen=True, kw_only=True):
    pass
