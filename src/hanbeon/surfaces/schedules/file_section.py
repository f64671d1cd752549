"""`[schedules.NAME]`: declared schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from hanbeon.config.reader import Reader, shown
from hanbeon.config.tasks import AnyTask
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.schedules.declarations import DeclaredSchedule, declared_schedule
from hanbeon.surfaces.surface import FileSection

# Valid values for required fields; the instants are such that hardly any other field can contradict them.
_NEEDS = ({"task": "a task"}, {"cron": "* * * * *", "every": "1m", "run_at": "2030-01-31T09:00"})


def read_schedules(value: Any, reader: Reader) -> tuple[DeclaredSchedule, ...]:
    """Return every valid schedule; record all problems of the others."""
    schedules = []
    for name, table in reader.table(value, "schedules").items():
        with reader.at("schedules", name):
            if not isinstance(table, Mapping):
                raise InvalidInput(Rule("schedule_not_a_table", name=name))
            made = reader.every(("schedules", name), table, partial(declared_schedule, name), *_NEEDS)
            if made is not None:
                schedules.append(made)
    return tuple(schedules)


def check_arguments(value: Any, tasks: Iterable[AnyTask], reader: Reader) -> None:
    """Check arguments of schedules against tasks of the same file. Those of an App are checked by its worker.

    Schedules with other problems are checked too, unless the arguments themselves were already refused.
    """
    known = {task.name: task for task in tasks}
    refused = {each.field for each in reader.problems}
    for name, table in value.items() if isinstance(value, Mapping) else ():
        place = ("schedules", name)
        task = table.get("task") if isinstance(table, Mapping) else None
        if isinstance(task, str) and task in known and shown((*place, "args")) not in refused:
            with reader.at(*place):
                args = table.get("args", {})
                if isinstance(args, Mapping):
                    known[task].signature.pack((), args)


def _tasks_of(value: Any) -> dict[str, str]:
    tables = value.items() if isinstance(value, Mapping) else ()
    tasks = {name: table.get("task") for name, table in tables if isinstance(table, Mapping)}
    return {name: task for name, task in tasks.items() if isinstance(task, str)}


SECTION = FileSection(read_schedules, check_arguments, tasks=_tasks_of)
