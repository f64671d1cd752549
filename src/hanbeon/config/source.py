"""A configuration file that a worker can reload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.config.file import ConfigFile, load
from hanbeon.config.sections import Declared
from hanbeon.engine.source import SourceChange
from hanbeon.outbound.secrets import Secrets
from hanbeon.settings import Settings, load_settings
from hanbeon.surfaces.surface import Declarations
from hanbeon.tasks.registry import Registry


class FileSource:
    """The file of an App, whose tasks are in its registry. `given` are the settings that override the file's."""

    def __init__(
        self,
        file: ConfigFile,
        registry: Registry,
        declared: Mapping[str, Declarations],
        secrets: Secrets,
        given: Mapping[str, Any],
    ) -> None:
        self._file, self._registry, self._declared, self._given = file, registry, declared, given
        self._secrets = secrets

    @property
    def name(self) -> str:
        return str(self._file.path)

    @property
    def queues(self) -> Declared:
        return self._file.queues

    def read(self) -> SourceChange:
        previous, file = self._file, load(self._file.path, self._file.folder)
        tasks = self._registry.check(file.origin, file.tasks)
        old, new = load_settings(previous.settings, **self._given), load_settings(file.settings, **self._given)
        settings = {
            name: getattr(new, name) for name in Settings.model_fields if getattr(new, name) != getattr(old, name)
        }
        for name, declared in self._declared.items():
            declared.check(file.origin, file.surfaces.get(name, ()), tasks, new)

        def apply() -> None:
            self._registry.replace(file.origin, file.tasks)
            for name, declared in self._declared.items():
                declared.replace(file.origin, file.surfaces.get(name, ()))
            self._secrets.declare(file.secrets)
            self._file = file

        also = ("app",) if file.app != previous.app else ()
        return SourceChange(file.queues, settings, _changed(previous, file), also, apply)


def _changed(previous: ConfigFile, current: ConfigFile) -> dict[str, list[str]]:
    old, new = ({task.name: task for task in file.tasks} for file in (previous, current))
    same = [
        name for name in new if name in old and old[name].is_same(new[name]) and old[name].options == new[name].options
    ]
    return {
        "added": sorted(new.keys() - old.keys()),
        "changed": sorted((new.keys() & old.keys()) - set(same)),
        "removed": sorted(old.keys() - new.keys()),
    }
