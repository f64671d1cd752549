"""Requests and results of schedules: the only place where their fields are written."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.executions import ExecutionType
from hanbeon.domain.timing.fire_times import ClockFold, ClockGap, NoteKind
from hanbeon.rule import Rule
from hanbeon.surfaces.schedules.misfire import Misfire, Overlap
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus, FireOutcome, FireReason
from hanbeon.surfaces.schema import Cursor, IdCursor, Name, Page, PageSize, PostBody, Request, Result, Uuid
from hanbeon.surfaces.validation import EXPECTED, PYTHON

PREVIEW_MOST = 1_000
CATCH_UP_LIMIT_MOST = 10_000
Moment = dt.datetime | str
"""An instant in Python; without an offset, it is read in the schedule's zone."""

_MODULE = "from hanbeon.surfaces.schedules"
MomentText = Annotated[
    str,
    Meta(
        max_length=40,
        examples=["2027-01-31T09:00:00+09:00"],
        extra={
            EXPECTED: Rule("moment"),
            PYTHON: ("Moment", f"{_MODULE}.schemas import Moment"),
        },
    ),
]
Cron = Annotated[
    str,
    Meta(
        min_length=1,
        examples=["0 9 * * MON-FRI"],
        extra={EXPECTED: Rule("cron_expression")},
    ),
]
TaskName = Annotated[Name, Meta(extra={PYTHON: ("AnyTask", f"{_MODULE}.references import AnyTask")})]
ScheduleId = Annotated[Uuid, Meta(extra={PYTHON: ("AnySchedule", f"{_MODULE}.references import AnySchedule")})]
FireCount = Annotated[int, Meta(ge=1, le=PREVIEW_MOST)]


# Requests


class Times(Request, frozen=True, kw_only=True):
    """One of `cron`, `every` and `run_at`. Spans in seconds, or as text like `90m`; moments in ISO-8601."""

    cron: Cron | UnsetType | None = UNSET
    every: float | str | UnsetType | None = UNSET
    run_at: MomentText | UnsetType | None = UNSET
    timezone: Name | UnsetType | None = UNSET
    jitter: float | str | UnsetType | None = UNSET
    starts_at: MomentText | UnsetType | None = UNSET
    ends_at: MomentText | UnsetType | None = UNSET
    dst_gap: ClockGap | UnsetType | None = UNSET
    dst_fold: ClockFold | UnsetType | None = UNSET


class ScheduleSettings(Times, frozen=True, kw_only=True):
    """How a schedule fires. Null stands for the default."""

    args: dict[str, Any] | UnsetType | None = UNSET
    overlap: Overlap | UnsetType | None = UNSET
    misfire: Misfire | UnsetType | None = UNSET
    misfire_limit: Annotated[int, Meta(ge=1, le=CATCH_UP_LIMIT_MOST)] | UnsetType | None = UNSET
    paused: bool | UnsetType | None = UNSET


class NamedSettings(ScheduleSettings, frozen=True, kw_only=True):
    """A schedule but for its task."""

    name: Name | UnsetType | None = UNSET


class NewSchedule(NamedSettings, PostBody, frozen=True, kw_only=True, rename={"task": "task_id"}):
    """The task must be known: a worker that has it has started once."""

    task: TaskName


class ScheduleChange(NamedSettings, frozen=True, kw_only=True, rename={"task": "task_id"}):
    """Fields that are left out stay as they are; null stands for the default."""

    task: TaskName | UnsetType = UNSET


class DeclaredSettings(ScheduleSettings, frozen=True, kw_only=True):
    """A schedule in code or in `hanbeon.toml`, under its name."""

    task: TaskName


class PreviewRequest(Times, PostBody, frozen=True, kw_only=True, rename={"start": "from"}):
    """The first `n` fires at or after `from`, which is now by default."""

    start: MomentText | UnsetType | None = UNSET
    n: FireCount | UnsetType | None = UNSET


class PreviewQuery(Request, frozen=True, kw_only=True):
    n: FireCount | UnsetType = UNSET


class ScheduleQuery(Request, frozen=True, kw_only=True, rename={"task": "task_id"}):
    task: TaskName | UnsetType | None = UNSET
    paused: bool | UnsetType | None = UNSET
    name: Name | UnsetType | None = UNSET
    cursor: IdCursor | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


class FireQuery(Request, frozen=True, kw_only=True):
    outcome: FireOutcome | UnsetType | None = UNSET
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


class TaskQuery(Request, frozen=True, kw_only=True):
    cursor: Name | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


class ExecutionQuery(Request, frozen=True, kw_only=True, rename={"task": "task_id", "schedule": "schedule_id"}):
    task: TaskName | UnsetType | None = UNSET
    status: list[ExecutionStatus] | UnsetType | None = UNSET
    type: ExecutionType | UnsetType | None = UNSET
    schedule: ScheduleId | UnsetType | None = UNSET
    cursor: Cursor | UnsetType | None = UNSET
    limit: PageSize | UnsetType = UNSET


class ManualRun(PostBody, frozen=True, kw_only=True):
    args: dict[str, Any] | UnsetType | None = UNSET


# Results


class Task(Result, frozen=True, kw_only=True):
    """A registered task. `live`: how many workers serve it now.

    `parameters`: the JSON Schema of its arguments, as last registered; null if it is not known.
    """

    task_id: str
    queue: str
    role: str | None
    priority: int
    timeout_ms: int | None
    max_retries: int
    parameters: dict[str, Any] | None
    live: int
    registered_by: str
    first_registered_at: str
    registered_at: str


class TaskPage(Page[Task], frozen=True, kw_only=True):
    pass


class Execution(Result, frozen=True, kw_only=True):
    """One run of a task, with all its attempts."""

    execution_id: str
    task_id: str
    type: ExecutionType
    status: ExecutionStatus
    schedule_id: str | None
    scheduled_at: str
    created_at: str
    started_at: str | None
    ended_at: str | None
    retry_count: int
    instance: str | None
    locked_until: str | None
    error_code: str | None
    error_message: str | None
    progress: Any
    result: Any
    requested_by: str | None


class ExecutionPage(Page[Execution], frozen=True, kw_only=True):
    pass


class CancelAnswer(Result, frozen=True, kw_only=True):
    """A cancelled execution; `stopping`: its work is being stopped, and it will be cancelled when that has ended."""

    execution: Execution
    stopping: bool


class Schedule(Result, frozen=True, kw_only=True):
    """The times at which a task runs. `waiting`: fires that wait until the task is free.

    `declared`: code or a file declares it; `overridden` lists the fields that were changed since.
    """

    id: str
    name: str | None
    task_id: str
    cron: str | None
    every: float | None
    run_at: str | None
    timezone: str
    args: dict[str, Any]
    overlap: Overlap
    misfire: Misfire
    misfire_limit: int
    jitter: float
    starts_at: str | None
    ends_at: str | None
    dst_gap: ClockGap | None
    dst_fold: ClockFold | None
    paused: bool
    next_fire_at: str | None
    last_fire_at: str | None
    last_status: ExecutionStatus | None
    last_execution_id: str | None
    waiting: list[str]
    declared: bool
    overridden: list[str]
    version: int
    created_by: str
    created_at: str
    changed_at: str


class SchedulePage(Page[Schedule], frozen=True, kw_only=True):
    pass


class PreviewedFire(Result, frozen=True, kw_only=True, omit_defaults=True):
    """A future fire. `note` explains the effect of a clock change on it; `wall` is the local time that was meant."""

    at: str
    note: str | None = None
    note_kind: NoteKind | None = None
    wall: str | None = None


class Preview(Result, frozen=True, kw_only=True):
    fires: list[PreviewedFire]


class Fire(Result, frozen=True, kw_only=True):
    """The outcome of a fire. `more`: at least this many later ones, up to the next row, have no row of their own."""

    fire_at: str
    outcome: FireOutcome
    reason: FireReason | None
    execution_id: str | None
    status: ExecutionStatus | None
    more: int
    recorded_at: str


class FirePage(Page[Fire], frozen=True, kw_only=True):
    pass
