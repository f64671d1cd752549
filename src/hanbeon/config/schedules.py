"""`[schedules.NAME]`: which task runs by itself, and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from hanbeon.config.reader import Reader, shown
from hanbeon.config.tasks import AnyTask
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.schedules.declarations import DeclaredSchedule, declared_schedule

# What fits where something else does not; the instants are such that hardly any other field can be at odds with them.
_NEEDS = ({"task": "a task"}, {"cron": "* * * * *", "run_at": "2030-01-31T09:00"})


def read_schedules(told: Any, reading: Reader) -> tuple[DeclaredSchedule, ...]:
    """Every schedule that can be declared; of each of the others, all that is wrong with it."""
    schedules = []
    for name, table in reading.table(told, "schedules").items():
        with reading.at("schedules", name):
            if not isinstance(table, Mapping):
                raise InvalidInput(f'it is no table; write [schedules.{name}] and, below it, task = "report"')
            made = reading.every(("schedules", name), table, partial(declared_schedule, name), *_NEEDS)
            if made is not None:
                schedules.append(made)
    return tuple(schedules)


def check_arguments(told: Any, tasks: Iterable[AnyTask], reading: Reader) -> None:
    """Note which arguments do not fit a task of the same file. Tasks of an App are seen to when a worker is made.

    Also those of a schedule that does not fit otherwise, unless it is them that do not.
    """
    known = {task.name: task for task in tasks}
    refused = {each.field for each in reading.problems}
    for name, table in told.items() if isinstance(told, Mapping) else ():
        place = ("schedules", name)
        task = table.get("task") if isinstance(table, Mapping) else None
        if isinstance(task, str) and task in known and shown((*place, "args")) not in refused:
            with reading.at(*place):
                args = table.get("args", {})
                if isinstance(args, Mapping):
                    known[task].signature.pack((), args)
