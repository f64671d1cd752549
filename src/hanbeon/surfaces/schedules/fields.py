"""What Python says of a schedule: the names and types of its keywords, once for all who take them."""

from __future__ import annotations

import reprlib
from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.words import Fields
from hanbeon.tasks.task import Task

AnyTask = Task[..., Any] | str
AnySchedule = schemas.Schedule | str
"""A schedule, its id or its name."""


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
    if isinstance(schedule, schemas.Schedule):
        return schedule.id
    if isinstance(schedule, str):
        return schedule
    raise InvalidInput(f"{reprlib.repr(schedule)} is no schedule; give one, its id or its name", field="schedule")
