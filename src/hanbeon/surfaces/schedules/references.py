"""References from Python: tasks, schedules and moments as objects, or as names, ids or text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.surfaces.moment import with_moments_as_text
from hanbeon.surfaces.schedules import schemas
from hanbeon.tasks.task import Task

AnyTask = Task[..., Any] | str
AnySchedule = schemas.Schedule | str
"""A schedule, its id or its name."""


def name_of_task(task: Any) -> str:
    if isinstance(task, Task):
        return task.name
    if isinstance(task, str):
        return task
    raise InvalidInput(Rule("must_be", what=Rule("task_reference"), got=quoted(task)), field="task")


def key_of_schedule(schedule: Any) -> str:
    """The id of a schedule, or its name."""
    if isinstance(schedule, schemas.Schedule):
        return schedule.id
    if isinstance(schedule, str):
        return schedule
    raise InvalidInput(Rule("must_be", what=Rule("schedule_reference"), got=quoted(schedule)), field="schedule")


def as_json(fields: Mapping[str, Any], zone: ZoneInfo | None) -> dict[str, Any]:
    """Convert Python keywords to JSON values: tasks to names, moments to text."""
    names = {name: value.name if isinstance(value, Task) else value for name, value in fields.items()}
    return with_moments_as_text(names, zone)
