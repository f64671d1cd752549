"""`[chains]`: the modules that chains may import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.config.imports import search_folder
from hanbeon.config.reader import Reader
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.surface import FileSection
from hanbeon.tasks.options import check_names, texts


def _read_chains(value: Any, reader: Reader) -> dict[str, Any]:
    """Read [chains], an alias of the setting `chain_libraries`, as a list."""

    def settings(table: Mapping[str, Any]) -> dict[str, Any]:
        check_names(table, ["libraries"], "[chains]")
        libraries = _modules(table.get("libraries", []))
        if libraries:
            search_folder(reader.folder)  # A worker's processes search where the worker does.
        return {"chain_libraries": " ".join(libraries)}

    return reader.every(("chains",), reader.table(value, "chains"), settings) or {}


def _modules(value: Any) -> tuple[str, ...]:
    names = texts(value, "libraries")
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise InvalidInput(Rule("libraries_not_names", got=repr(name)), field="libraries")
    return names


SECTION = FileSection(_read_chains, is_alias=True)
