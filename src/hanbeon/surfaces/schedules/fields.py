"""What Python says of a schedule: the names and types of its keywords, once for all who take them."""

from __future__ import annotations

import datetime as dt
import reprlib
from collections.abc import Mapping
from typing import Any, TypedDict

from hanbeon.errors import InvalidInput
from hanbeon.surfaces.schedules import shapes
from hanbeon.tasks.task import Task

Moment = dt.datetime | str
AnyTask = Task[..., Any] | str
AnySchedule = shapes.Schedule | str
"""A schedule, its id or its name."""


class Times(TypedDict, total=False):
    """When: `cron` or `run_at`. Moments without an offset are read in the schedule's zone."""

    cron: str | None
    run_at: Moment | None
    timezone: str | None
    jitter: float | str | None
    starts_at: Moment | None
    ends_at: Moment | None
    dst_gap: str | None
    dst_fold: str | None


class Declarable(Times, total=False):
    """What a schedule says besides its name and its task; None means what it is by default."""

    args: Mapping[str, Any] | None
    overlap: str | None
    misfire: str | None
    misfire_limit: int | None
    paused: bool | None


class Fields(Declarable, total=False):
    name: str | None


class Changes(Fields, total=False):
    task: AnyTask


def name_of_task(task: Any) -> str:
    """The name of a task, which may be given itself."""
    if isinstance(task, Task):
        return task.name
    if isinstance(task, str):
        return task
    raise InvalidInput(f"{reprlib.repr(task)} is no task; give a task, or its name", field="task")


def key_of(schedule: Any) -> str:
    """The id or the name of a schedule, which may be given itself."""
    if isinstance(schedule, shapes.Schedule):
        return schedule.id
    if isinstance(schedule, str):
        return schedule
    raise InvalidInput(f"{reprlib.repr(schedule)} is no schedule; give one, its id or its name", field="schedule")
