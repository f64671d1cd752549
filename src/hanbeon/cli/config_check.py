"""Where each setting comes from, and what is wrong with any, or with the rest of a file."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.app import App
from hanbeon.cli.app_loader import combined
from hanbeon.cli.config_option import named_file, settings_here
from hanbeon.cli.open_app import open_app, will_be_made
from hanbeon.config.check_commands import missing, problem_in
from hanbeon.config.document import Document
from hanbeon.config.file import ConfigFile, examine, find, load
from hanbeon.errors import HanbeonError, InvalidInput
from hanbeon.server.jwt import issuer_of
from hanbeon.settings import Settings, invalid_settings, load_settings, misspelt_names, shown, variable_of
from hanbeon.store.operations.tasks import find_tasks
from hanbeon.surfaces.schedules.declarations import DeclaredSchedule
from hanbeon.tasks.options import did_you_mean


class SettingOrigin(msgspec.Struct, frozen=True):
    """A setting in force. `origin` is an option, the App, a variable of the environment, a file, or the default."""

    name: str
    value: Any
    origin: str

    @property
    def shown(self) -> str:
        if self.value is None:
            return ""
        return f"{self.value:.12g}" if isinstance(self.value, float) else str(self.value)


def settings_in_force(target: str | None, database: str | None) -> list[SettingOrigin]:
    """Every setting of an App, or of whatever runs in this environment."""
    path = find(named_file())
    app = combined(target, None if path is None else load(path), database)
    said = {} if app.file is None else app.file.settings
    here = load_settings(said, **app.given)
    return [_setting(name, app, here, database) for name in Settings.model_fields]


def _setting(name: str, app: App, here: Settings, database: str | None) -> SettingOrigin:
    value = getattr(app.settings, name)
    if name == "database_url" and database is not None:
        origin = "--database"
    elif name in app.given or value != getattr(here, name):
        origin = "the App"
    elif variable := variable_of(name):
        origin = variable
    elif app.file is not None and name in app.file.settings:
        origin = str(app.file.path)
    else:
        origin = "default"
    return SettingOrigin(name, shown(name, value), origin)


async def problems(target: str | None, database: str | None) -> list[HanbeonError]:
    """All that is wrong with the environment and the file; if nothing is, what is wrong with the database."""
    found: list[HanbeonError] = [*invalid_settings()]
    found += [
        InvalidInput(f"there is no such setting; did you mean {near}?", field=name)
        for name, near in misspelt_names().items()
    ]
    path = find(named_file())
    try:
        if path is not None:
            found += await _problems_of(path, database, alone=target is None and not found)
        if not found:
            app = combined(target, None if path is None else load(path))
            issuer_of(app.settings)
            app.declared.resolved(app.tasks, app.settings)
            found += await _strangers(list(app.declared), app.tasks.by_name, database, app.file)
    except HanbeonError as error:
        found.append(error)
    return found


async def _problems_of(path: Path, database: str | None, *, alone: bool) -> list[HanbeonError]:
    """`alone`: nothing but the file can have tasks, so that those of its schedules can be looked for already."""
    file, refused = examine(path)
    found: list[HanbeonError] = [*refused, *missing(file)]
    of_settings = any((each.field or "").startswith(("settings", "outbound")) for each in refused)
    if found and alone and file.app is None and not of_settings:
        tasks = Document.read(path).said.get("tasks")
        if isinstance(tasks, Mapping) and any(each.task not in tasks for each in file.schedules):
            with contextlib.suppress(HanbeonError):  # What is wrong with the database is told when the file is right.
                found += await _strangers(file.schedules, tasks, database, file)
    return found


async def _strangers(
    schedules: Sequence[DeclaredSchedule], tasks: Collection[str], database: str | None, file: ConfigFile | None
) -> list[HanbeonError]:
    """Of these schedules, those whose task neither is among these nor was registered by a worker of the database."""
    strangers = [each for each in schedules if each.task not in tasks]
    known: list[str] = []
    if database is not None or not will_be_made(settings_here().database_url):
        async with open_app(database) as there:
            known = await _known_tasks(there, [each.task for each in strangers])
    return [_unknown_task(each, tasks, file) for each in strangers if each.task not in known]


async def _known_tasks(app: App, names: list[str]) -> list[str]:
    """Those of these that a worker of the database has registered."""
    return [task.name for task in await app.store.read(lambda tx: find_tasks(tx, names))]


def _unknown_task(schedule: DeclaredSchedule, tasks: Collection[str], file: ConfigFile | None) -> InvalidInput:
    hint = did_you_mean(schedule.task, tasks) or "; say --app if an App has it"
    why = f"there is no task {schedule.task!r}{hint}"
    if file is not None and schedule in file.schedules:
        return problem_in(file, ("schedules", schedule.name, "task"), why)
    return InvalidInput(why, field=f"schedules.{schedule.name}.task")


def file_here() -> str:
    """The file in force and how much it says, in words."""
    path = find(named_file())
    if path is None:
        return "the environment (there is no hanbeon.toml here)"
    file = load(path)
    counts = {"task": len(file.tasks), "queue": len(file.queues), "schedule": len(file.schedules)}
    words = [f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items()]
    return f"{path} ({', '.join(words)})"
