"""Requests and results of workflows: the only place where their fields are written."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hanbeon.rule import Rule
from hanbeon.surfaces.schema import STORABLE, Cursor, Name, Page, PageSize, PostBody, Request, Result, Uuid
from hanbeon.surfaces.validation import EXPECTED, PYTHON, SECRET
from hanbeon.surfaces.workflows.vocabulary import (
    ENDED,
    DeliveryStatus,
    Frequency,
    Mode,
    OnError,
    RunKind,
    RunStatus,
    StepStatus,
    StepType,
    WorkflowStatus,
)

STEPS_MOST = 100
RECIPIENTS_MOST = 1_000
VARIABLES_MOST = 100
TEXT_MOST = 100_000
DELAY_MOST = 366 * 24 * 60
WAIT_MOST = 366 * 86_400
WAIT_FOR_RUN_MOST = 600
Moment = dt.datetime | str
"""An instant in Python; without an offset, it is read in the workflow's zone."""

Identifier = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=60,
        pattern=r"^[^\W\d][\w-]*$",
        examples=["report"],
        extra={EXPECTED: Rule("workflow_name")},
    ),
]
Text = Annotated[str, Meta(max_length=TEXT_MOST, pattern=STORABLE)]
Target = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4_000,
        pattern=STORABLE,
        examples=["mailtos://{{ secrets.SMTP_USER }}:{{ secrets.SMTP_PASSWORD }}@mail.example.org?to=kim@example.org"],
        extra={EXPECTED: Rule("message_target"), SECRET: True},
    ),
]
MomentText = Annotated[
    str,
    Meta(
        max_length=40,
        examples=["2027-01-31T09:00:00+09:00"],
        extra={
            EXPECTED: Rule("moment"),
            PYTHON: ("Moment", "from hanbeon.surfaces.workflows.schemas import Moment"),
        },
    ),
]
Retries = Annotated[int, Meta(ge=0, le=100)]
RetrySeconds = Annotated[float, Meta(ge=0, le=3_600)]
StepSeconds = Annotated[float, Meta(ge=0.001, le=3_600)]
JsonBody = str | bool | int | float | list[Any] | dict[str, Any]
"""Any JSON but null, which is no body."""
Variables = Annotated[dict[Identifier, Any], Meta(max_length=VARIABLES_MOST)]


# Requests


_CRON_RULE = Rule("cron_expression")


class NewRecurrence(PostBody, frozen=True, kw_only=True):
    """A `cron` expression, or a frequency with a `time`.

    `weekdays` belong to weekly, `day` to monthly; the 29th to 31st mean the last day of a shorter month.
    """

    cron: Annotated[str, Meta(min_length=1, examples=["0 9 * * MON-FRI"], extra={EXPECTED: _CRON_RULE})] | UnsetType = (
        UNSET
    )
    frequency: Frequency | UnsetType = UNSET
    time: Annotated[str, Meta(max_length=8, examples=["09:00"])] | UnsetType = UNSET
    weekdays: Annotated[list[Annotated[str, Meta(max_length=20)]], Meta(max_length=7)] | UnsetType = UNSET
    day: Annotated[int, Meta(ge=1, le=31)] | UnsetType = UNSET


class NewScheduleConfig(PostBody, frozen=True, kw_only=True):
    """When a workflow runs: one field beside the mode, or none for immediate."""

    mode: Mode
    delay_minutes: Annotated[float, Meta(ge=0, le=DELAY_MOST)] | UnsetType = UNSET
    scheduled_time: MomentText | UnsetType = UNSET
    recurrence: NewRecurrence | UnsetType = UNSET


class NewStep(PostBody, frozen=True, kw_only=True):
    """A step. message: target, title, body, recipients; http: method, url, headers, body; wait: seconds, minutes or
    until; task: task_id, args.
    """

    type: StepType
    name: Identifier | UnsetType = UNSET
    retries: Retries | UnsetType = UNSET
    retry_delay: RetrySeconds | UnsetType = UNSET
    timeout: StepSeconds | UnsetType = UNSET
    on_error: OnError | UnsetType = UNSET
    target: Target | UnsetType = UNSET
    title: Text | UnsetType = UNSET
    body: JsonBody | UnsetType = UNSET
    recipients: (
        Annotated[list[dict[Identifier, Any]], Meta(min_length=1, max_length=RECIPIENTS_MOST, extra={SECRET: True})]
        | UnsetType
    ) = UNSET
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | UnsetType = UNSET
    url: Annotated[str, Meta(min_length=1, max_length=4_000, pattern=STORABLE)] | UnsetType = UNSET
    headers: (
        Annotated[dict[Name, Annotated[str, Meta(max_length=4_000)]], Meta(max_length=50, extra={SECRET: True})]
        | UnsetType
    ) = UNSET
    seconds: Annotated[float, Meta(ge=0, le=WAIT_MOST)] | UnsetType = UNSET
    minutes: Annotated[float, Meta(ge=0, le=WAIT_MOST / 60)] | UnsetType = UNSET
    until: MomentText | UnsetType = UNSET
    task_id: Name | UnsetType = UNSET
    args: dict[str, Any] | UnsetType = UNSET


Steps = Annotated[list[NewStep], Meta(min_length=1, max_length=STEPS_MOST)]
Notifications = Annotated[list[Target], Meta(max_length=20, extra={SECRET: True})]


class NewWorkflow(PostBody, frozen=True, kw_only=True):
    """A workflow; a draft unless its status says otherwise."""

    name: Name
    steps: Steps
    schedule_config: NewScheduleConfig
    variables: Variables | UnsetType = UNSET
    timezone: Name | UnsetType | None = UNSET
    status: WorkflowStatus | UnsetType = UNSET
    notifications: Notifications | UnsetType = UNSET


class WorkflowChanges(Request, frozen=True, kw_only=True):
    """Fields of a workflow to change. Targets that are sent back masked stay as they are."""

    name: Name | UnsetType = UNSET
    steps: Steps | UnsetType = UNSET
    schedule_config: NewScheduleConfig | UnsetType = UNSET
    variables: Variables | UnsetType = UNSET
    timezone: Name | UnsetType | None = UNSET
    status: WorkflowStatus | UnsetType = UNSET
    notifications: Notifications | UnsetType = UNSET


class WorkflowQuery(Request, frozen=True, kw_only=True):
    status: WorkflowStatus | UnsetType | None = UNSET
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


class WorkflowRunQuery(Request, frozen=True, kw_only=True):
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


class RunWaitQuery(Request, frozen=True, kw_only=True):
    """How many seconds to wait for the end of the run."""

    wait: Annotated[float, Meta(ge=0, le=WAIT_FOR_RUN_MOST)] | UnsetType = UNSET


class NewExecution(PostBody, frozen=True, kw_only=True):
    """A run beside the registered one, of a workflow of any status. Variables that are not given keep their default."""

    workflow_id: Uuid
    variables: Variables | UnsetType = UNSET


class DryRun(PostBody, frozen=True, kw_only=True):
    """Values for a dry run: variables, and outputs of steps by their names."""

    variables: Variables | UnsetType = UNSET
    outputs: dict[Identifier, Any] | UnsetType = UNSET


# Results


class WorkflowDelivery(Result, frozen=True, kw_only=True):
    """The message to one recipient. `unknown`: how often sending was cut off, so that it may have arrived before."""

    recipient: int
    status: DeliveryStatus
    attempts: int
    unknown: int
    error_message: str | None


class WorkflowStep(Result, frozen=True, kw_only=True):
    """A step that has begun. `unknown`: how many of its attempts were cut off; nobody saw how they ended.
    `output_secret`: the output comes from secrets, and only admins see it; for others it is null.
    """

    index: int
    name: str
    type: StepType
    status: StepStatus
    attempts: int
    output: Any
    error_message: str | None
    started_at: str
    ended_at: str | None
    unknown: int
    job_id: str | None
    deliveries: list[WorkflowDelivery]
    output_secret: bool = False

    def for_readers(self) -> Self:
        return msgspec.structs.replace(self, output=None) if self.output_secret else self


class SkippedTimes(Result, frozen=True, kw_only=True):
    """Times of a workflow that fell due while a run was late or under way."""

    count: int
    first: str
    last: str


class WorkflowRun(Result, frozen=True, kw_only=True):
    """A run of a workflow. `late`: it started over a minute after its time."""

    run_id: str
    workflow_id: str
    kind: RunKind
    status: RunStatus
    scheduled_time: str
    executed_at: str | None
    ended_at: str | None
    retry_count: int
    error_code: str | None
    error_message: str | None
    late: bool
    skipped: SkippedTimes | None
    variables: Any
    steps: list[WorkflowStep]

    @property
    def is_unfinished(self) -> bool:
        return self.status not in ENDED

    def for_readers(self) -> Self:
        return msgspec.structs.replace(self, steps=[each.for_readers() for each in self.steps])


class WorkflowRunPage(Page[WorkflowRun], frozen=True, kw_only=True):
    """Runs, newest first."""

    def for_readers(self) -> Self:
        return msgspec.structs.replace(self, items=[each.for_readers() for each in self.items])


class Workflow(Result, frozen=True, kw_only=True):
    """A workflow. Targets and headers are shown without secrets. `run` is the one that was waited for."""

    id: str
    name: str
    status: WorkflowStatus
    steps: Any
    variables: Any
    schedule_config: Any
    timezone: str
    notifications: list[str]
    next_run_at: str | None
    run_id: str | None
    declared: bool
    version: int
    created_by: str
    created_at: str
    updated_at: str
    run: WorkflowRun | None = None

    def for_readers(self) -> Self:
        return self if self.run is None else msgspec.structs.replace(self, run=self.run.for_readers())


class WorkflowPage(Page[Workflow], frozen=True, kw_only=True):
    """Workflows in the order of their creation."""


class Execution(Result, frozen=True, kw_only=True):
    """The result of a run that was requested."""

    run_id: str
    workflow_id: str
    status: RunStatus
    error_code: str | None
    error_message: str | None
    steps: list[WorkflowStep]

    @property
    def is_unfinished(self) -> bool:
        return self.status not in ENDED

    def for_readers(self) -> Self:
        return msgspec.structs.replace(self, steps=[each.for_readers() for each in self.steps])


class RenderedMessage(Result, frozen=True, kw_only=True):
    """A message as it would be sent; its target without secrets."""

    step: int
    name: str
    recipient: int
    target: str
    title: str
    body: str


class DryRunResult(Result, frozen=True, kw_only=True):
    """The messages in order. `more`: further ones were left out, because the answer would be over 4 MiB."""

    messages: list[RenderedMessage]
    more: bool = False


class Registered(Result, frozen=True, kw_only=True):
    """How many workflows got, changed, kept or lost their registered run."""

    created: int
    updated: int
    unchanged: int
    removed: int


class ExecutedRun(Result, frozen=True, kw_only=True):
    run_id: str
    workflow_id: str
    status: RunStatus
    error_code: str | None
    error_message: str | None


class Executed(Result, frozen=True, kw_only=True):
    """The runs that this call has worked on."""

    executed: int
    results: list[ExecutedRun]


class DelayedRun(Result, frozen=True, kw_only=True):
    """A run that should have begun. `late_seconds`: since when, counted from its due time."""

    run_id: str
    workflow_id: str
    name: str | None
    scheduled_time: str
    due_at: str
    late_seconds: float


class NextRun(Result, frozen=True, kw_only=True):
    run_id: str
    workflow_id: str
    name: str | None
    scheduled_time: str
    due_at: str


class FailedRun(Result, frozen=True, kw_only=True):
    run_id: str
    workflow_id: str
    name: str | None
    scheduled_time: str
    ended_at: str
    error_code: str | None
    error_message: str | None


class Monitor(Result, frozen=True, kw_only=True):
    """Counts of all runs that are kept; those due for over a minute, the next ones, and what failed lately."""

    pending: int
    running: int
    completed: int
    failed: int
    delayed: list[DelayedRun]
    next: list[NextRun]
    recent_failures: list[FailedRun]
