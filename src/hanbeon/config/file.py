"""The sections of `hanbeon.toml`, and the file as a whole. A new section is a reader and a field, both here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.config.document import Document
from hanbeon.config.imports import split_target
from hanbeon.config.queues import Declared, read_queues
from hanbeon.config.reader import Reader
from hanbeon.config.schedules import check_arguments, read_schedules
from hanbeon.config.settings import beside, read_settings
from hanbeon.config.tasks import AnyTask, read_tasks
from hanbeon.errors import ConfigInvalid, InvalidInput
from hanbeon.settings import Settings
from hanbeon.surfaces.schedules.declarations import DeclaredSchedule
from hanbeon.tasks.options import check_names, did_you_mean, switch, texts

NAME = "hanbeon.toml"
VARIABLE = "HANBEON_CONFIG"


def _read_app(told: Any, reading: Reader) -> str | None:
    with reading.at():
        split_target(told, "app", "shop.jobs:app")
        return str(told)
    return None


def _read_chains(told: Any, reading: Reader) -> tuple[str, ...]:
    def libraries(table: Mapping[str, Any]) -> tuple[str, ...]:
        check_names(table, ["libraries"], "[chains]")
        return texts(table.get("libraries", []), "libraries")

    return reading.every(("chains",), reading.table(told, "chains"), libraries) or ()


def _read_outbound(told: Any, reading: Reader) -> dict[str, Any]:
    """Settings by another name, the one that people look for."""

    def settings(table: Mapping[str, Any]) -> dict[str, Any]:
        check_names(table, ["allow_private"], "[outbound]")
        return {f"outbound_{name}": switch(value, name) for name, value in table.items()}

    return reading.every(("outbound",), reading.table(told, "outbound"), settings) or {}


SECTIONS: Mapping[str, Callable[[Any, Reader], Any]] = {
    "app": _read_app,
    "settings": read_settings,
    "tasks": read_tasks,
    "queues": read_queues,
    "schedules": read_schedules,
    "outbound": _read_outbound,
    "chains": _read_chains,
}


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says: a field for each section. `chains` are the modules that chains may import; none uses it yet."""

    path: Path
    folder: Path
    app: str | None = None
    settings: Mapping[str, Any] = {}
    tasks: tuple[AnyTask, ...] = ()
    queues: Declared = {}
    schedules: tuple[DeclaredSchedule, ...] = ()
    outbound: Mapping[str, Any] = {}
    chains: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """What its tasks are known by."""
        return str(self.folder / self.path.name)

    @property
    def has_tasks(self) -> bool:
        return bool(self.tasks) or self.app is not None


def load(path: Path, folder: Path | None = None) -> ConfigFile:
    """What a file says; the first problem of a file that does not fit is raised."""
    file, problems = examine(path, folder)
    if problems:
        raise problems[0]
    return file


def load_settings_of(path: Path) -> dict[str, Any]:
    """Its settings alone: who only looks at a database need not import what its tasks run."""
    reading = Reader(Document.read(path))
    said = reading.document.said
    values = read_settings(said.get("settings", {}), reading)
    values = _all_settings(values, _read_outbound(said.get("outbound", {}), reading), reading)
    if reading.problems:
        raise reading.problems[0]
    return values


def _all_settings(values: Mapping[str, Any], outbound: Mapping[str, Any], reading: Reader) -> dict[str, Any]:
    """With those of [outbound], and the default database where all who read the file look for it."""
    for name, value in outbound.items():
        if values.get(name, value) != value:
            reading.refuse(InvalidInput(f"[outbound] says {value}; say it once", field=name), "settings")
    found = {**values, **outbound}
    if "database_url" not in found and reading.folder.resolve() != Path.cwd():
        found["database_url"] = beside(Settings.model_fields["database_url"].default, reading.folder.resolve())
    return found


def examine(path: Path, folder: Path | None = None) -> tuple[ConfigFile, list[ConfigInvalid]]:
    """What of a file can be read, and every problem of the rest, in the order of its lines."""
    document = Document.read(path, folder)
    reading = Reader(document)
    found: dict[str, Any] = {}
    for name, told in document.said.items():
        if name in SECTIONS:
            found[name] = SECTIONS[name](told, reading)
            continue
        hint = did_you_mean(name, SECTIONS) or f". There are {', '.join(SECTIONS)}"
        what = "section" if isinstance(told, Mapping) else "key"
        reading.refuse(InvalidInput(f"there is no such {what}{hint}", field=name))
    check_arguments(document.said.get("schedules"), found.get("tasks", ()), reading)
    found["settings"] = _all_settings(found.get("settings", {}), found.get("outbound", {}), reading)
    return ConfigFile(path=path, folder=document.folder, **found), sorted(reading.problems, key=lambda it: it.line or 0)


def find(path: str | Path | None = None) -> Path | None:
    """The file to read: this one, or the one that HANBEON_CONFIG names, or `hanbeon.toml` in the current folder."""
    if path is not None:
        return Path(path)
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    here = Path(NAME)
    return here if here.exists() else None
