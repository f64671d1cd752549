"""Reads a document part by part: problems are collected with their place, and reading continues."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hanbeon.config.document import Document
from hanbeon.config.recover import Choices, Recovery
from hanbeon.errors import ConfigInvalid, InvalidInput, TaskDefinitionError
from hanbeon.rule import Rule

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

    def at(self, *place: str) -> _Place:
        """Record an InvalidInput of the block as a problem of this place, and continue after the block."""
        return _Place(self, place)

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


class _Place:
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
