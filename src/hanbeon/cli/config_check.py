"""The origin of each setting, and the problems of the settings, the file and the database."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.app import App
from hanbeon.cli.app_loader import combined, open_app, will_be_created
from hanbeon.cli.location import named_file, settings_here
from hanbeon.config.check_commands import missing, problem_in
from hanbeon.config.document import Document
from hanbeon.config.file import ALIASES, OF_SURFACES, ConfigFile, examine, find, load
from hanbeon.errors import HanbeonError, InvalidInput
from hanbeon.extras import extra
from hanbeon.quotation import quoted, suggested
from hanbeon.rule import Rule
from hanbeon.settings import Settings, invalid_settings, load_settings, misspelt_names, shown, variable_of
from hanbeon.store.operations.tasks import find_tasks
from hanbeon.surfaces.registry import SURFACES

TableName = tuple[str, str]
"""A section and the name of a table in it."""


class SettingOrigin(msgspec.Struct, frozen=True):
    """A setting in effect. `origin` is an option, the App, an environment variable, a file, or the default."""

    name: str
    value: Any
    origin: str

    @property
    def shown(self) -> str:
        if self.value is None:
            return ""
        return f"{self.value:.12g}" if isinstance(self.value, float) else str(self.value)


def settings_in_force(target: str | None, database: str | None) -> list[SettingOrigin]:
    """Return every setting of an App, or of this environment without one."""
    path = find(named_file())
    app = combined(target, None if path is None else load(path), database)
    from_file = {} if app.file is None else app.file.settings
    expected = load_settings(from_file, **app.given)
    return [_setting(name, app, expected, database) for name in Settings.model_fields]


def _setting(name: str, app: App, expected: Settings, database: str | None) -> SettingOrigin:
    value = getattr(app.settings, name)
    if name == "database_url" and database is not None:
        origin = "--database"
    elif name in app.given or value != getattr(expected, name):
        origin = "the App"
    elif variable := variable_of(name):
        origin = variable
    elif app.file is not None and name in app.file.settings:
        origin = str(app.file.path)
    else:
        origin = "default"
    return SettingOrigin(name, shown(name, value), origin)


async def problems(target: str | None, database: str | None) -> list[HanbeonError]:
    """Return all problems of the environment and the file; if there are none, those of the database."""
    found: list[HanbeonError] = [*invalid_settings()]
    found += [
        InvalidInput(Rule("unknown_setting", nearest=near), field=name) for name, near in misspelt_names().items()
    ]
    path = find(named_file())
    try:
        if path is not None:
            found += await _problems_of(path, database, alone=target is None and not found)
        if not found:
            app = combined(target, None if path is None else load(path))
            _check_issuer(app.settings)
            for declared in app.declared.values():
                declared.resolved(app.tasks, app.settings)
            named = {
                (section, name): task
                for section, declared in app.declared.items()
                for name, task in declared.tasks.items()
            }
            found += await _unknown_tasks(named, app.tasks.by_name, database, app.file)
            found += [error for name in app.secrets.names if (error := app.secrets.problem(name)) is not None]
    except HanbeonError as error:
        found.append(error)
    return found


def _check_issuer(settings: Settings) -> None:
    """Raise for invalid settings of JWTs. Without any there is nothing to check, and the server's extra not needed."""
    if all(getattr(settings, name) == field.default for name, field in Settings.model_fields.items() if "jwt_" in name):
        return
    with extra("server", "jwt_issuer"):
        from hanbeon.server.jwt import issuer_of
    issuer_of(settings)


async def _problems_of(path: Path, database: str | None, *, alone: bool) -> list[HanbeonError]:
    """Return the problems of a file. `alone`: only the file has tasks, so that its schedules' tasks can be checked."""
    file, refused = examine(path)
    found: list[HanbeonError] = [*refused, *missing(file)]
    of_settings = any((each.field or "").startswith(("settings", *ALIASES)) for each in refused)
    if found and alone and file.app is None and not of_settings:
        content = Document.read(path).content
        tasks, named = content.get("tasks", {}), _tasks_of_sections(content)
        if isinstance(tasks, Mapping) and not set(named.values()) <= tasks.keys():
            with contextlib.suppress(HanbeonError):  # Problems of the database are reported once the file is correct.
                found += await _unknown_tasks(named, tasks, database, file)
    return sorted(found, key=lambda problem: getattr(problem, "line", None) or 0)


def _tasks_of_sections(content: Mapping[str, Any]) -> dict[TableName, str]:
    """Return the task that each table of a file names, also one that is invalid otherwise."""
    return {
        (name, table): task
        for name, section in OF_SURFACES.items()
        for table, task in section.tasks(content.get(name)).items()
    }


async def _unknown_tasks(
    named: Mapping[TableName, str], tasks: Collection[str], database: str | None, file: ConfigFile | None
) -> list[HanbeonError]:
    """Return a problem for each declaration whose task is not in `tasks`, and which no worker has registered."""
    unknown = {place: task for place, task in named.items() if task not in tasks}
    known: list[str] = []
    if database is not None or not will_be_created(settings_here().database_url):
        async with open_app(database) as app:
            known = await _registered_tasks(app, list(unknown.values()))
    return [_unknown_task(place, task, tasks, file) for place, task in unknown.items() if task not in known]


async def _registered_tasks(app: App, names: list[str]) -> list[str]:
    """Return those of these tasks that a worker of the database has registered."""
    return [task.name for task in await app.store.read(lambda tx: find_tasks(tx, names))]


def _unknown_task(of: TableName, task: str, tasks: Collection[str], file: ConfigFile | None) -> InvalidInput:
    rule = Rule("task_unknown_to_file", task=quoted(task), nearest=suggested(task, tasks))
    place = (*of, "task")
    if file is not None and of[1] in Document.read(file.path, file.folder).content.get(of[0], {}):
        return problem_in(file, place, rule)
    return InvalidInput(rule, field=".".join(place))


def file_here() -> str:
    """Return the path of the file in effect and a count of its tasks, queues and schedules."""
    path = find(named_file())
    if path is None:
        return "the environment (there is no hanbeon.toml here)"
    file = load(path)
    counts = {"task": len(file.tasks), "queue": len(file.queues)}
    counts |= {each.name[:-1]: len(file.surfaces.get(each.name, ())) for each in SURFACES if each.declarations}
    parts = [f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts.items()]
    return f"{path} ({', '.join(parts)})"
