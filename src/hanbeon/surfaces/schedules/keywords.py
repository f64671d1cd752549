"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Required, TypedDict

from hanbeon.domain.executions import ExecutionType
from hanbeon.domain.timing.fire_times import ClockFold, ClockGap
from hanbeon.surfaces.schedules.misfire import Misfire, Overlap
from hanbeon.surfaces.schedules.schemas import Moment
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus, FireOutcome

if TYPE_CHECKING:
    from hanbeon.surfaces.schedules.references import AnySchedule, AnyTask


class DeclaredSettingsFields(TypedDict, total=False):
    """A schedule in code or in `hanbeon.toml`, under its name."""

    cron: str | None
    every: float | str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: ClockGap | str | None
    dst_fold: ClockFold | str | None
    args: Mapping[str, Any] | None
    overlap: Overlap | str | None
    misfire: Misfire | str | None
    misfire_limit: int | None
    paused: bool | None
    task: Required[AnyTask]


class ExecutionQueryFields(TypedDict, total=False):
    task: AnyTask | None
    status: Sequence[ExecutionStatus | str] | None
    type: ExecutionType | str | None
    schedule: AnySchedule | None
    cursor: str | None
    limit: int


class FireQueryFields(TypedDict, total=False):
    outcome: FireOutcome | str | None
    cursor: str | None
    limit: int


class ManualRunFields(TypedDict, total=False):
    args: Mapping[str, Any] | None


class NamedSettingsFields(TypedDict, total=False):
    """A schedule but for its task."""

    cron: str | None
    every: float | str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: ClockGap | str | None
    dst_fold: ClockFold | str | None
    args: Mapping[str, Any] | None
    overlap: Overlap | str | None
    misfire: Misfire | str | None
    misfire_limit: int | None
    paused: bool | None
    name: str | None


class NewScheduleFields(TypedDict, total=False):
    """The task must be known: a worker that has it has started once."""

    cron: str | None
    every: float | str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: ClockGap | str | None
    dst_fold: ClockFold | str | None
    args: Mapping[str, Any] | None
    overlap: Overlap | str | None
    misfire: Misfire | str | None
    misfire_limit: int | None
    paused: bool | None
    name: str | None
    task: Required[AnyTask]


class PreviewQueryFields(TypedDict, total=False):
    n: int


class PreviewRequestFields(TypedDict, total=False):
    """The first `n` fires at or after `from`, which is now by default."""

    cron: str | None
    every: float | str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: ClockGap | str | None
    dst_fold: ClockFold | str | None
    start: Moment | None
    n: int | None


class ScheduleChangeFields(TypedDict, total=False):
    """Fields that are left out stay as they are; null stands for the default."""

    cron: str | None
    every: float | str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: ClockGap | str | None
    dst_fold: ClockFold | str | None
    args: Mapping[str, Any] | None
    overlap: Overlap | str | None
    misfire: Misfire | str | None
    misfire_limit: int | None
    paused: bool | None
    name: str | None
    task: AnyTask


class ScheduleQueryFields(TypedDict, total=False):
    task: AnyTask | None
    paused: bool | None
    name: str | None
    cursor: str | None
    limit: int


class ScheduleSettingsFields(TypedDict, total=False):
    """How a schedule fires. Null stands for the default."""

    cron: str | None
    every: float | str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: ClockGap | str | None
    dst_fold: ClockFold | str | None
    args: Mapping[str, Any] | None
    overlap: Overlap | str | None
    misfire: Misfire | str | None
    misfire_limit: int | None
    paused: bool | None


class TaskQueryFields(TypedDict, total=False):
    cursor: str | None
    limit: int


class TimesFields(TypedDict, total=False):
    """One of `cron`, `every` and `run_at`. Spans in seconds, or as text like `90m`; moments in ISO-8601."""

    cron: str | None
    every: float | str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: ClockGap | str | None
    dst_fold: ClockFold | str | None
