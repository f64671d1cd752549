"""`[schedules.NAME]`: which task runs by itself, and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hanbeon.config.reading import Reading
from hanbeon.config.tasks import AnyTask
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.schedules import body
from hanbeon.surfaces.schedules.declared import DeclaredSchedule, declared_schedule


def read_schedules(told: Any, reading: Reading) -> tuple[DeclaredSchedule, ...]:
    """Every schedule that can be declared; of each of the others, the first thing that is wrong with it."""
    schedules = []
    for name, table in reading.table(told, "schedules").items():
        with reading.at("schedules", name):
            if not isinstance(table, Mapping):
                raise InvalidInput(f'it is no table; write [schedules.{name}] and, below it, task = "report"')
            schedules.append(declared_schedule(name, table))
    return tuple(schedules)


def check_arguments(schedules: Iterable[DeclaredSchedule], tasks: Iterable[AnyTask], reading: Reading) -> None:
    """Note which arguments do not fit a task of the same file. Tasks of an App are seen to when a worker is made."""
    known = {task.name: task for task in tasks}
    for schedule in schedules:
        if schedule.task in known:
            with reading.at("schedules", schedule.name):
                known[schedule.task].signature.pack((), body.args_of(schedule.fields.get("args")))
