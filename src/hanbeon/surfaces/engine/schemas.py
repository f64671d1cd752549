"""Requests and results of the engine's surface: the only place where their fields are written."""

from __future__ import annotations

import enum
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.access import Scope
from hanbeon.domain.dead_letters import DeadLetterCode
from hanbeon.domain.job import PRIORITY_MAX, PRIORITY_MIN, RETRIES_MAX, OnDependencyFailure
from hanbeon.domain.lifecycle import AttemptStatus, Reason, State
from hanbeon.domain.retry import Backoff, OnLost
from hanbeon.domain.statistics import Spans
from hanbeon.domain.timeline import MomentType
from hanbeon.rule import Rule
from hanbeon.surfaces.engine.installation_schemas import CreatedToken as CreatedToken
from hanbeon.surfaces.engine.installation_schemas import EngineSettings as EngineSettings
from hanbeon.surfaces.engine.installation_schemas import Setting as Setting
from hanbeon.surfaces.engine.installation_schemas import Token as Token
from hanbeon.surfaces.engine.installation_schemas import Tokens as Tokens
from hanbeon.surfaces.schema import (
    STORABLE,
    BulkCursor,
    Cursor,
    Events,
    Failure,
    JobCursor,
    JobLink,
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
from hanbeon.surfaces.validation import EXPECTED

TEXT_MOST = 200
STEP_LEAST, STEP_MOST = 60, 86_400
STEPS_MOST = 2_000
BULK_MOST = 1_000
LOG_LINES_MOST = 10_000

Moment = Annotated[str, Meta(max_length=40, examples=["2027-01-31T09:00:00+09:00"], extra={EXPECTED: Rule("moment")})]
_ID_RULE = Rule("uuid_prefix", least=4)
IdPrefix = Annotated[str, Meta(min_length=4, max_length=36, pattern="^[0-9a-f-]*$", extra={EXPECTED: _ID_RULE})]
Text = Annotated[str, Meta(min_length=1, max_length=TEXT_MOST, pattern=STORABLE)]
Priority = Annotated[int, Meta(ge=PRIORITY_MIN, le=PRIORITY_MAX)]
Limit = Annotated[int, Meta(ge=0, le=2**31 - 1)]


# Requests


class JobFilter(Request, frozen=True, kw_only=True):
    """Jobs that match every given field. `state`: one or several; `key`: a concurrency, unique or idempotency key.

    `own`: only jobs of users' tasks, without steps of chains and other built-in ones.
    """

    state: list[State] | State | UnsetType | None = UNSET
    queue: Name | UnsetType | None = UNSET
    task: Name | UnsetType | None = UNSET
    role: NameOrEmpty | UnsetType | None = UNSET
    key: Name | UnsetType | None = UNSET
    id: IdPrefix | UnsetType | None = UNSET
    text: Text | UnsetType | None = UNSET
    failure_type: Name | UnsetType | None = UNSET
    created_after: Moment | UnsetType | None = UNSET
    created_before: Moment | UnsetType | None = UNSET
    own: bool | UnsetType | None = UNSET


class EngineJobQuery(JobFilter, frozen=True, kw_only=True):
    """A page of the jobs that match, newest first. It looks at 50,000 jobs at most, and may be empty before the end."""

    cursor: JobCursor | UnsetType | None = UNSET
    limit: PageSize = 100


class NewEngineJob(PostBody, frozen=True, kw_only=True):
    """A job of a registered task. `copy_of`: with the settings of that job, and its arguments unless others come.

    `delay` in seconds; `expires` in seconds, as text like `90m`, or as an instant. Fields that are left out are those
    of the task, or of the copied job.
    """

    task: Name | UnsetType = UNSET
    args: dict[str, Any] | UnsetType = UNSET
    copy_of: Uuid | UnsetType = UNSET
    queue: Name | UnsetType = UNSET
    role: NameOrEmpty | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    urgent: bool | UnsetType = UNSET
    delay: Annotated[float, Meta(ge=0, le=100 * 366 * 86_400)] | UnsetType = UNSET
    timeout_ms: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    expires: float | str | UnsetType = UNSET
    max_retries: Annotated[int, Meta(ge=0, le=RETRIES_MAX)] | UnsetType = UNSET


class EnginePriority(Request, frozen=True, kw_only=True):
    """Lower runs before higher, urgent before all others."""

    priority: Priority | UnsetType = UNSET
    urgent: bool | UnsetType = UNSET


class EngineRetry(Retry, frozen=True, kw_only=True):
    """A comment for the next attempts of a job that is retried, and other arguments for them."""


class EngineMarkDone(MarkDone, frozen=True, kw_only=True):
    """Why a job that failed or was cancelled is done all the same, and its result, if there is one."""


class EngineLogQuery(Request, frozen=True, kw_only=True):
    """Lines after the place `after`, of one attempt or of all."""

    attempt: Annotated[int, Meta(ge=1, le=2**63 - 1)] | UnsetType = UNSET
    after: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=LOG_LINES_MOST)] = 1_000


class BulkAction(enum.StrEnum):
    CANCEL = "cancel"
    RETRY = "retry"


class Bulk(PostBody, frozen=True, kw_only=True):
    """Cancel or retry the jobs that match, a batch at a time: ask again while `more` is true."""

    action: BulkAction
    filter: JobFilter
    dry_run: bool = False
    cursor: BulkCursor | UnsetType | None = UNSET


class QueueQuery(Request, frozen=True, kw_only=True):
    """By name. `name`: a part of it, in any case. `window`: the seconds of activity to count, a week at most."""

    name: Name | UnsetType | None = UNSET
    window: Annotated[int, Meta(ge=60, le=7 * 86_400)] = 3_600
    cursor: Name | UnsetType | None = UNSET
    limit: PageSize = 100


class QueueChange(Request, frozen=True, kw_only=True):
    """Fields that are left out stay. 0 is no limit; null removes the limit of a role or key."""

    max_concurrent: Limit | UnsetType = UNSET
    max_per_key: Limit | UnsetType = UNSET
    roles: dict[Name, Limit] | UnsetType = UNSET
    keys: dict[Name, Limit] | UnsetType = UNSET
    paused: bool | UnsetType = UNSET


class StatisticsQuery(Request, frozen=True, kw_only=True, rename={"start": "from", "end": "to"}):
    """From `from` to `to`, in steps of `step` seconds; the last hour by default. Minutes are kept for a day."""

    start: Moment | UnsetType = UNSET
    end: Moment | UnsetType = UNSET
    step: Annotated[int, Meta(ge=STEP_LEAST, le=STEP_MOST)] = STEP_LEAST
    queue: Name | UnsetType = UNSET


class FailureQuery(Request, frozen=True, kw_only=True):
    """The latest failures, grouped. `seconds`: how far back, at most a week."""

    seconds: Annotated[int, Meta(ge=1, le=7 * 86_400)] = 86_400
    limit: PageSize = 100


class ActionQuery(Request, frozen=True, kw_only=True):
    """Newest first."""

    user: Name | UnsetType = UNSET
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize = 100


class DeadLetterQuery(Request, frozen=True, kw_only=True):
    """By stream, the newest first."""

    cursor: Name | UnsetType | None = UNSET
    limit: PageSize = 100


class NewTokenRequest(PostBody, frozen=True, kw_only=True):
    """From the first token on, every client needs one."""

    user: Name
    scope: Scope


# Results


class EnginePolicy(Result, frozen=True, kw_only=True):
    """How failed attempts are retried, under the names of the task options; `retry_delay` in seconds."""

    retries: int
    retry_delay: float
    backoff: Backoff
    jitter: float
    on_lost: OnLost


class EngineJob(Result, frozen=True, kw_only=True):
    """A job as the engine has it. `path`: where its surface shows it. Arguments of built-in tasks are not shown.

    `seq`: its place in the order of creation. `unmet`: how many of its dependencies have not succeeded yet.
    """

    seq: int
    id: str
    queue: str
    task: str
    role: str | None
    concurrency_key: str | None
    state: State
    args: Any
    priority: int
    urgent: bool
    run_at: str
    created_at: str
    started_at: str | None
    deadline_at: str | None
    finished_at: str | None
    stop_requested_at: str | None
    unmet: int
    on_dependency_failure: OnDependencyFailure
    dispatched_at: str | None
    retry_count: int
    max_retries: int
    policy: EnginePolicy
    timeout_ms: int | None
    expires_at: str | None
    attempt: int
    instance_id: int | None
    locked_until: str | None
    progress: Any
    result: Any
    result_kept: bool
    failure_type: str | None
    error_message: str | None
    idempotency_key: str | None
    unique_key: str | None
    work_item: str | None
    meta: Any
    replaced_by: str | None
    surface: str | None
    path: str | None


class EngineJobPage(Page[EngineJob], frozen=True, kw_only=True):
    pass


class EngineAttempt(Result, frozen=True, kw_only=True):
    attempt: int
    status: AttemptStatus
    instance: str | None
    instance_id: int | None
    started_at: str
    deadline_at: str | None
    ended_at: str | None
    failure_type: str | None
    error_message: str | None
    failure: Failure | None


class Moved(Result, frozen=True, kw_only=True):
    """One moment of a job's life, put together from the job and its attempts.

    Of a move by hand: the `user`, null for a program; the `comment`; and what else of the job it has changed.
    """

    at: str
    type: MomentType
    text: str
    attempt: int | None = None
    user: str | None = None
    comment: str | None = None
    changes: dict[str, Any] | None = None


class Linked(Result, frozen=True, kw_only=True):
    """A job before or behind another."""

    id: str
    task: str
    state: State


class EngineJobDetail(EngineJob, frozen=True, kw_only=True):
    """`depends_on` and `dependents` show 1,000 jobs at most.

    `waiting`: what a job that was sent to stream workers waits for; null for others, and once one has begun. `links`:
    to other tools, by the setting `job_links`.
    """

    failure: Failure | None
    waiting: str | None
    links: list[JobLink]
    attempts: list[EngineAttempt]
    timeline: list[Moved]
    depends_on: list[Linked]
    dependents: list[Linked]


class EngineCancelAnswer(Result, frozen=True, kw_only=True):
    job: EngineJob
    stopping: bool


class BulkDone(Result, frozen=True, kw_only=True):
    """`matched`: jobs found in this batch; `done`: how many of them were moved; `more`: ask again for the rest.

    `ids` are the jobs that were moved. With `next_cursor` as the next `cursor` it goes through the jobs once, also
    through those that fail again.
    """

    matched: int
    done: int
    more: bool
    next_cursor: str | None
    ids: list[str]


class Activity(Result, frozen=True, kw_only=True):
    """Jobs that went through in a span of time: `wait` until they were claimed, and `run`, in seconds."""

    enqueued: int
    started: int
    succeeded: int
    failed: int
    cancelled: int
    retried: int
    timed_out: int
    throughput: float
    wait: Spans | None
    run: Spans | None


class EngineQueue(Activity, frozen=True, kw_only=True):
    """A queue, its limits, and its activity in the last `seconds`. Durations are seconds.

    `declared`: the limits that a configuration file declared last. `mean_run`: of all succeeded jobs that are stored.
    """

    name: str
    paused: bool
    max_concurrent: int
    max_per_key: int
    roles: dict[str, int]
    keys: dict[str, int]
    states: dict[State, int]
    declared: dict[str, Any] | None
    oldest_ready: float | None
    mean_run: float | None
    seconds: float


class EngineQueues(Result, frozen=True, kw_only=True):
    """`at`: the moment of these numbers, by the clock of the database."""

    at: str
    items: list[EngineQueue]
    next_cursor: str | None


class EngineInstance(Result, frozen=True, kw_only=True):
    id: int
    name: str
    host: str
    pid: int
    version: str
    tasks: list[str]
    schedules: list[str]
    capacity: int
    running: int
    alive: bool
    draining: bool
    started_at: str
    seen_at: str
    stopped_at: str | None
    jobs: list[Linked]


class EngineInstances(Result, frozen=True, kw_only=True):
    items: list[EngineInstance]


class StatisticsStep(Activity, frozen=True, kw_only=True):
    """Jobs that went through from `at` on, for the length of a step; `failures` by failure type."""

    at: str
    failures: dict[str, int]


class EngineStatistics(Result, frozen=True, kw_only=True):
    states: dict[State, int]
    step: int
    items: list[StatisticsStep]


class FailureGroup(Result, frozen=True, kw_only=True):
    """Failures of one task with one error. `looked_at`: of how many of the latest failures."""

    task: str
    failure_type: str
    message: str
    count: int
    first_at: str
    last_at: str
    last_id: str


class FailureGroups(Result, frozen=True, kw_only=True):
    items: list[FailureGroup]
    looked_at: int


class Action(Result, frozen=True, kw_only=True):
    """One request or command that changed something. `count`: how many jobs it moved or created."""

    id: int
    at: str
    user: str
    via: str
    action: str
    target: str | None
    count: int


class ActionPage(Page[Action], frozen=True, kw_only=True):
    pass


class EngineEvent(Result, frozen=True, kw_only=True):
    """A move of a job, in the engine's words. `details` depend on the type."""

    id: int
    type: Reason
    queue: str
    job_id: str
    task: str | None
    state: State | None
    attempt: int | None
    details: dict[str, Any]
    timestamp: str


class ChangeType(enum.StrEnum):
    CHANGED = "changed"


class EngineChange(Result, frozen=True, kw_only=True):
    """A hint that something has changed since the one before. `id` only grows."""

    id: int
    type: ChangeType
    timestamp: str


class EngineEventPage(Events[EngineEvent], frozen=True, kw_only=True):
    pass


class DeadLetter(Result, frozen=True, kw_only=True):
    """A message of a stream worker that could not be used, and why. `stream` and `entry`: where it was.

    `field`: the one that could not be read, if `code` is `unreadable` and it was one.
    """

    id: str
    stream: str
    entry: str
    reason: str
    code: DeadLetterCode
    field: str | None
    payload: dict[str, Any]
    at: str


class DeadLetterPage(Result, frozen=True, kw_only=True):
    """Resume with `next_cursor`; null: there are no more."""

    items: list[DeadLetter]
    next_cursor: str | None
