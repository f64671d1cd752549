"""What schedules answer, with the names that clients rely on. Times are ISO-8601 in the zone of the installation."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.schedules.fire_times import ClockFold, ClockGap
from hanbeon.domain.schedules.history import ExecutionType, FireOutcome, FireReason
from hanbeon.domain.schedules.misfire import Misfire, Overlap
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task that somebody has registered. `live`: how many workers serve it now."""

    task_id: str
    queue: str
    role: str | None
    priority: int
    timeout_ms: int | None
    max_retries: int
    live: int
    registered_by: str
    first_registered_at: str
    registered_at: str


class TaskPage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[Task]
    next_cursor: str | None


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a task, with all its tries."""

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


class ExecutionPage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[Execution]
    next_cursor: str | None


class CancelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A cancelled execution; `stopping`: its work has been told to stop, and it is cancelled when that has."""

    execution: Execution
    stopping: bool


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """When a task runs by itself. `waiting`: fires that wait until the task is free.

    `declared`: code or a file says that it should be; `overridden` are the fields that somebody changed since.
    """

    id: str
    name: str | None
    task_id: str
    cron: str | None
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
    waiting: list[str]
    declared: bool
    overridden: list[str]
    version: int
    created_by: str
    created_at: str
    changed_at: str


class SchedulePage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[Schedule]
    next_cursor: str | None


class PreviewedFire(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A time to come. `note` says what a change of clocks does to it."""

    at: str
    note: str | None = None


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    fires: list[PreviewedFire]


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a fire. `more`: so many behind it, up to the next line, have no line of their own (at least)."""

    fire_at: str
    outcome: FireOutcome
    reason: FireReason | None
    execution_id: str | None
    more: int
    recorded_at: str


class FirePage(msgspec.Struct, frozen=True, kw_only=True):
    items: list[Fire]
    next_cursor: str | None
