"""Schedules declared in code and files: checked when they are declared, applied by workers when they start."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.domain.job import check_size
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.surfaces.schedules import definitions
from hanbeon.surfaces.schedules.declaration import LONG_AGO, Declaration, InForce, declaration
from hanbeon.surfaces.schedules.references import as_json, name_of_task
from hanbeon.surfaces.schedules.schemas import DeclaredSettings
from hanbeon.surfaces.schema import Name
from hanbeon.surfaces.validation import convert, given_fields, inside, validate
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task import Task
from hanbeon.zones import check_not_naive

FIELDS = DeclaredSettings.__struct_fields__
"""Fields of a declared schedule: those of any schedule but its name."""
_ANY_ZONE = ZoneInfo("UTC")
"""Not by `zone_of`, which lists the zones of this machine: that would be a tenth of the import."""
Tasks = Mapping[str, Task[..., Any]]


class DeclaredSchedule(msgspec.Struct, frozen=True):
    """A valid declaration. If it names no zone, the zone is resolved when a worker starts."""

    name: str
    task: str
    fields: dict[str, Any]
    naive: dict[str, dt.datetime] = {}
    """Naive moments from code, for which the settings must choose a zone."""

    def resolved(self, tasks: Tasks, settings: Settings) -> Declaration:
        """Return it with its arguments checked, if the task is among these."""
        for field, moment in self.naive.items():
            check_not_naive(moment, settings.zone_of_naive, field)
        definition = definitions.definition_of(self.fields, settings.zone)
        if self.task in tasks:
            packed = tasks[self.task].signature.pack((), self.fields.get("args") or {})
            definition = msgspec.structs.replace(definition, args=packed)
        check_size("args", definition.args, settings.max_payload_bytes)
        whole = InForce(self.task, definition, bool(self.fields.get("paused")))
        return declaration(self.name, whole, {"task_id", *self.fields})


def declared_schedule(name: Any, given: Mapping[str, Any]) -> DeclaredSchedule:
    """Check the fields of a declared schedule. An instant may be past: it was not when the declaration was written."""
    with inside("name"):
        name = convert(Name, name)
    known = as_json({field: value for field, value in given.items() if value is not None}, _ANY_ZONE)
    if known.keys() <= set(FIELDS):
        # A misspelt field is the likelier mistake than a missing one, and is what the schema rejects.
        _check_required(known)
    fields = given_fields(validate(DeclaredSettings, known))
    task = fields.pop("task")
    definition = definitions.definition_of(fields, _ANY_ZONE)
    definitions.check_times(definition.timing, LONG_AGO)
    return DeclaredSchedule(name, task, fields)


def _check_required(fields: Mapping[str, Any]) -> None:
    if "task" not in fields:
        raise InvalidInput(Rule("declared_task_required"), field="task")
    if not fields.keys() & set(definitions.KINDS):
        raise InvalidInput(Rule("declared_cron_required"), field="cron")


class DeclaredSchedules:
    """Schedules that code declares one by one, and replaceable sets of them from files."""

    def __init__(self) -> None:
        self._own: dict[str, DeclaredSchedule] = {}
        self._sets: dict[str, dict[str, DeclaredSchedule]] = {}

    def add(self, schedule: DeclaredSchedule) -> None:
        """Declare a schedule. A second declaration of its name is an error, unless both are equal."""
        _check_unique(self._all(), schedule)
        self._own[schedule.name] = schedule

    def declare(self, name: str, fields: Mapping[str, Any]) -> None:
        """Check the fields of a schedule, and declare it in code."""
        declared = declared_schedule(name, {**fields, "task": name_of_task(fields["task"])})
        if "timezone" not in declared.fields:
            moments = ((field, value) for field, value in fields.items() if isinstance(value, dt.datetime))
            naive = {field: moment for field, moment in moments if moment.tzinfo is None}
            declared = msgspec.structs.replace(declared, naive=naive)
        self.add(declared)

    def check(self, origin: str, schedules: Iterable[DeclaredSchedule], tasks: Tasks, settings: Settings) -> None:
        """Reject a set if one of its names is declared elsewhere, or if arguments do not match their task."""
        every = self._all(without=origin)
        for schedule in schedules:
            _check_unique(every, schedule)
            every[schedule.name] = schedule
        _resolved(every.values(), tasks, settings)

    def replace(self, origin: str, schedules: Iterable[DeclaredSchedule]) -> None:
        """Replace the declared schedules of an origin."""
        schedules = list(schedules)
        for schedule in schedules:
            _check_unique(self._all(without=origin), schedule)
        self._sets[origin] = {schedule.name: schedule for schedule in schedules}

    @property
    def tasks(self) -> Mapping[str, str]:
        """The task of each schedule."""
        return {each.name: each.task for each in self}

    def __iter__(self) -> Iterator[DeclaredSchedule]:
        return iter(self._all().values())

    def resolved(self, tasks: Registry, settings: Settings) -> list[Declaration]:
        """Return all of them with their zones; the default zone is that of the settings."""
        return _resolved(self, tasks.by_name, settings)

    def _all(self, without: str = "") -> dict[str, DeclaredSchedule]:
        every = dict(self._own)
        for origin, more in self._sets.items():
            every |= more if origin != without else {}
        return every


def _resolved(schedules: Iterable[DeclaredSchedule], tasks: Tasks, settings: Settings) -> list[Declaration]:
    found = []
    for schedule in schedules:
        try:
            found.append(schedule.resolved(tasks, settings))
        except InvalidInput as error:
            raise InvalidInput(error.reason, field=f"schedules.{schedule.name}.{error.field}") from error
    return found


def _check_unique(known: Mapping[str, DeclaredSchedule], schedule: DeclaredSchedule) -> None:
    if known.get(schedule.name, schedule) != schedule:
        raise InvalidInput(
            Rule("declared_twice", name=repr(schedule.name)),
            field=f"schedules.{schedule.name}",
        )
