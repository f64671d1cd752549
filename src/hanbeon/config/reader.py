"""Reads a document part by part: problems are collected with their place, and reading continues."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hanbeon.config.document import Document
from hanbeon.errors import ConfigInvalid, InvalidInput, TaskDefinitionError
from hanbeon.quotation import nearest
from hanbeon.rule import Rule

Choices = Mapping[str, Any]
"""Fields of which a table needs one, each with a valid value; for a table, that is a `PartialTable`."""
_VALID_ELEMENT = "true"


class PartialTable:
    """A valid value for a table: its own needs, and a valid value for `each` of its fields where they are alike."""

    def __init__(self, *needs: Choices, each: Any = None) -> None:
        self.needs, self.each = needs, each

    def whole(self) -> dict[str, Any]:
        """Return a valid table."""
        return {name: value for choices in self.needs for name, value in list(choices.items())[:1]}


class Recovery:
    """A table that is read repeatedly, with one invalid field fewer each time."""

    def __init__(self, table: Mapping[str, Any], *needs: Choices) -> None:
        self.table = dict(table)
        self._needs = needs
        self._seen: set[tuple[str, ...]] = set()

    def is_new(self, place: Sequence[str]) -> bool:
        """Return whether the place is still as the author wrote it; a problem of a repaired place is not theirs."""
        return not any(tuple(place[:end]) in self._seen for end in range(1, len(place) + 1)) and (
            bool(place) or () not in self._seen
        )

    def repair(self, place: Sequence[str]) -> bool:
        """Replace or remove the invalid value, or rename a misspelt field; return whether anything changed."""
        self._seen.add(tuple(place))
        return _repair(self.table, list(place), PartialTable(*self._needs))


def _repair(table: dict[str, Any], place: list[str], within: PartialTable) -> bool:
    if not place:
        return any(_rename(table, name, within) for name in list(table))
    name, *inner = place
    value, valid = table.get(name), _valid_value(name, within)
    if inner and isinstance(value, Mapping):
        table[name] = copy = dict(value)
        return _repair(copy, inner, valid if isinstance(valid, PartialTable) else PartialTable())
    if inner and isinstance(value, list) and inner[0].isdecimal() and int(inner[0]) < len(value):
        table[name] = [*value[: int(inner[0])], _VALID_ELEMENT, *value[int(inner[0]) + 1 :]]
        return True
    if isinstance(valid, PartialTable):
        valid = valid.whole() or None
    if valid is not None:
        table[name] = valid
        return True
    if name not in table:
        return False
    if not _rename(table, name, within):
        del table[name]
    return True


def _valid_value(name: str, within: PartialTable) -> Any:
    return next((choices[name] for choices in within.needs if name in choices), within.each)


def _rename(table: dict[str, Any], name: str, within: PartialTable) -> bool:
    """Rename a field to the missing required field that it is probably a misspelling of."""
    for choices in within.needs:
        if not choices.keys() & table.keys() and (near := nearest(name, choices)):
            table[near[0]] = table.pop(name)
            return True
    return False


T = TypeVar("T")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_FIELD = re.compile(r"[.\[]")


class Reader:
    """Collects the problems of a document in the order in which they are found."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[ConfigInvalid] = []

    @property
    def folder(self) -> Path:
        return self.document.folder

    def at(self, *place: str) -> _Location:
        """Record an InvalidInput of the block as a problem of this place, and continue after the block."""
        return _Location(self, place)

    def every(
        self, place: Sequence[str], table: Mapping[str, Any], make: Callable[[Mapping[str, Any]], T], *needs: Choices
    ) -> T | None:
        """Return `make(table)`; or None, with a problem for every invalid field of the table.

        `needs` are its required fields with valid values, which stand in for invalid ones to find further problems.
        """
        recovery, valid = Recovery(table, *needs), True
        while True:
            try:
                made = make(recovery.table)
            except InvalidInput as error:
                valid, where = False, parts(field_and_message(error)[0])
                if not recovery.is_new(where):
                    return None
                self.refuse(error, *place)
                if not recovery.repair(where):
                    return None
            else:
                return made if valid else None

    def refuse(self, error: InvalidInput, *place: str) -> None:
        self.problems.append(self._problem(place, error))

    def table(self, value: Any, *place: str) -> Mapping[str, Any]:
        """Return a table; if the value is none, record a problem and return an empty one."""
        if isinstance(value, Mapping):
            return value
        self.refuse(InvalidInput(Rule("not_a_table", place=shown(place))), *place)
        return {}

    def _problem(self, place: Sequence[str], error: InvalidInput) -> ConfigInvalid:
        field, message = field_and_message(error)
        names = [*place, *parts(field)]
        where = f"{shown(place)}.{field}" if field and place else field or shown(place)
        return ConfigInvalid(str(self.document.path), where, message, self.document.line_of(names))


def field_and_message(error: InvalidInput) -> tuple[str, str | Rule]:
    """Return an error's field and message without the name of the task, which the place already contains."""
    if isinstance(error, TaskDefinitionError) and isinstance(error.__cause__, InvalidInput):
        error = error.__cause__
    return error.field or "", error.reason


def parts(field: str) -> list[str]:
    """Split a field like `params.x` or `command[0]` into its names."""
    return [part.rstrip("]") for part in _FIELD.split(field) if part]


class _Location:
    def __init__(self, reader: Reader, place: Sequence[str]) -> None:
        self._reader, self._place = reader, place

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, InvalidInput):
            return False
        self._reader.refuse(error, *self._place)
        return True


def shown(place: Sequence[str]) -> str:
    """Return a place as it is written in the file."""
    return ".".join(name if _BARE.fullmatch(name) else f'"{name}"' for name in place)
