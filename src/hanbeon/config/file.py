"""`hanbeon.toml` as a whole. A section has a reader here and a field of `ConfigFile`, or belongs to a surface."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import msgspec

from hanbeon.config.document import Document
from hanbeon.config.imports import split_target
from hanbeon.config.reader import Reader
from hanbeon.config.sections import Declared, read_queues, read_secrets, read_settings, relative_to
from hanbeon.config.tasks import AnyTask, read_tasks
from hanbeon.errors import ConfigInvalid, InvalidInput
from hanbeon.outbound.secrets import SecretSource
from hanbeon.quotation import suggested
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import FileSection, reserve_queues
from hanbeon.surfaces.surface import load as load_reference
from hanbeon.tasks.options import check_names, switch

# At once: a task may name its queue before a store is opened.
reserve_queues(SURFACES)
NAME = "hanbeon.toml"
VARIABLE = "HANBEON_CONFIG"


def _read_app(value: Any, reader: Reader) -> str | None:
    with reader.at():
        split_target(value, "app", "shop.jobs:app")
        return str(value)
    return None


def _read_outbound(value: Any, reader: Reader) -> dict[str, Any]:
    """Read [outbound], an alias of the `outbound_…` settings under the name that users look for."""

    def settings(table: Mapping[str, Any]) -> dict[str, Any]:
        check_names(table, ["allow_private"], "[outbound]")
        value = table.get("allow_private", False)
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            try:
                return {"outbound_networks": " ".join(str(ip_network(each)) for each in value)}
            except ValueError as error:
                raise InvalidInput(Rule("allow_private_form", error=error), field="allow_private") from None
        return {f"outbound_{name}": switch(value, name) for name, value in table.items()}

    return reader.every(("outbound",), reader.table(value, "outbound"), settings) or {}


ReadSection = Callable[[Any, Reader], Any]
OF_SURFACES: Mapping[str, FileSection] = {
    each.name: load_reference(each.file) for each in SURFACES if each.file is not None
}
"""Sections under the names of their surfaces."""
ALIASES: Mapping[str, ReadSection] = {
    "outbound": _read_outbound,
    **{name: section.read for name, section in OF_SURFACES.items() if section.is_alias},
}
"""Sections that set settings, under names that users look for."""
SECTIONS: Mapping[str, ReadSection] = {
    "app": _read_app,
    "settings": read_settings,
    "tasks": read_tasks,
    "queues": read_queues,
    "secrets": read_secrets,
    **{name: section.read for name, section in OF_SURFACES.items()},
    **ALIASES,
}


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file, a field per section; sections that are aliases are among the settings."""

    path: Path
    folder: Path
    app: str | None = None
    settings: Mapping[str, Any] = {}
    tasks: tuple[AnyTask, ...] = ()
    queues: Declared = {}
    secrets: Mapping[str, SecretSource] = {}
    surfaces: Mapping[str, Any] = {}
    """Content of the sections of surfaces."""

    @property
    def origin(self) -> str:
        """The name under which the file's tasks are registered."""
        return str(self.folder / self.path.name)

    @property
    def has_tasks(self) -> bool:
        return bool(self.tasks) or self.app is not None


def load(path: Path, folder: Path | None = None) -> ConfigFile:
    """Read a file; raise its first problem if it is invalid."""
    file, problems = examine(path, folder)
    if problems:
        raise problems[0]
    return file


def load_settings_of(path: Path) -> dict[str, Any]:
    """Read only the settings: a command that only reads a database need not import the modules of tasks."""
    reader = Reader(Document.read(path))
    content = reader.document.content
    values = read_settings(content.get("settings", {}), reader)
    aliases = {name: read(content.get(name, {}), reader) for name, read in ALIASES.items() if name in content}
    values = _all_settings(values, aliases, reader)
    if reader.problems:
        raise reader.problems[0]
    return values


def load_secrets_of(path: Path) -> dict[str, SecretSource]:
    """Read only the declarations of secrets."""
    reader = Reader(Document.read(path))
    found = read_secrets(reader.document.content.get("secrets", {}), reader)
    if reader.problems:
        raise reader.problems[0]
    return found


def _all_settings(
    values: Mapping[str, Any], aliases: Mapping[str, Mapping[str, Any]], reader: Reader
) -> dict[str, Any]:
    """Add the settings of sections that are aliases, and resolve the default database relative to the file's folder."""
    found = dict(values)
    for section, settings in aliases.items():
        for name, value in settings.items():
            if values.get(name, value) != value:
                rule = Rule("settings_disagree", section=section, value=str(value))
                reader.refuse(InvalidInput(rule, field=name), "settings")
        found |= settings
    if "database_url" not in found and reader.folder.resolve() != Path.cwd():
        found["database_url"] = relative_to(Settings.model_fields["database_url"].default, reader.folder.resolve())
    return found


def examine(path: Path, folder: Path | None = None) -> tuple[ConfigFile, list[ConfigInvalid]]:
    """Read the valid parts of a file, and return every problem of the rest in the order of its lines."""
    document = Document.read(path, folder)
    reader = Reader(document)
    found: dict[str, Any] = {}
    for name, value in document.content.items():
        if name in SECTIONS:
            found[name] = SECTIONS[name](value, reader)
            continue
        kind = "section" if isinstance(value, Mapping) else "key"
        rule = Rule("unknown_section", kind=kind, nearest=suggested(name, SECTIONS), known=SECTIONS)
        reader.refuse(InvalidInput(rule, field=name))
    for name, section in OF_SURFACES.items():
        if section.check is not None:
            section.check(document.content.get(name), found.get("tasks", ()), reader)
    aliases = {name: found.pop(name) for name in ALIASES if name in found}
    found["settings"] = _all_settings(found.get("settings", {}), aliases, reader)
    problems = sorted(reader.problems, key=lambda problem: problem.line or 0)
    surfaces = {name: found.pop(name) for name in OF_SURFACES if name in found}
    return ConfigFile(path=path, folder=document.folder, surfaces=surfaces, **found), problems


def find(path: str | Path | None = None) -> Path | None:
    """Return the file to read: the given one, else $HANBEON_CONFIG, else `hanbeon.toml` in the current folder."""
    if path is not None:
        return Path(path)
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    here = Path(NAME)
    return here if here.exists() else None
