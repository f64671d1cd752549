"""Reads a document part by part: what does not fit is noted with its place, and the rest is read on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hanbeon.config.document import Document
from hanbeon.config.recover import Choices, Recovery
from hanbeon.errors import ConfigInvalid, InvalidInput, TaskDefinitionError

T = TypeVar("T")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_FIELD = re.compile(r"[.\[]")


class Reader:
    """The problems of a document, in the order in which they are met."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[ConfigInvalid] = []

    @property
    def folder(self) -> Path:
        return self.document.folder

    def at(self, *place: str) -> _Place:
        """What the block refuses is a problem of this place. It ends there; what follows it goes on."""
        return _Place(self, place)

    def every(
        self, place: Sequence[str], told: Mapping[str, Any], make: Callable[[Mapping[str, Any]], T], *needs: Choices
    ) -> T | None:
        """What is made of a table; or nothing, and every field of it that does not fit is a problem.

        `needs` are fields that it cannot do without, with values that fit, to see what else is wrong.
        """
        mending, sound = Recovery(told, *needs), True
        while True:
            try:
                made = make(mending.table)
            except InvalidInput as error:
                sound, where = False, parts(field_and_message(error)[0])
                if not mending.is_news(where):
                    return None
                self.refuse(error, *place)
                if not mending.mend(where):
                    return None
            else:
                return made if sound else None

    def refuse(self, error: InvalidInput, *place: str) -> None:
        self.problems.append(self._problem(place, error))

    def table(self, told: Any, *place: str) -> Mapping[str, Any]:
        """A table, or else a problem and an empty one."""
        if isinstance(told, Mapping):
            return told
        self.refuse(InvalidInput(f"it is no table; write [{shown(place)}] and what belongs to it below"), *place)
        return {}

    def _problem(self, place: Sequence[str], error: InvalidInput) -> ConfigInvalid:
        field, message = field_and_message(error)
        names = [*place, *parts(field)]
        where = f"{shown(place)}.{field}" if field and place else field or shown(place)
        return ConfigInvalid(str(self.document.path), where, message, self.document.line_of(names))


def field_and_message(error: InvalidInput) -> tuple[str, str]:
    """What is refused, without the name of the task: the place says already which it is."""
    if isinstance(error, TaskDefinitionError) and isinstance(error.__cause__, InvalidInput):
        error = error.__cause__
    field = error.field or ""
    return field, str(error).removeprefix(f"{field}: ")


def parts(field: str) -> list[str]:
    """The names in a field like `params.x` or `command[0]`."""
    return [part.rstrip("]") for part in _FIELD.split(field) if part]


class _Place:
    def __init__(self, reading: Reader, place: Sequence[str]) -> None:
        self._reading, self._place = reading, place

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, InvalidInput):
            return False
        self._reading.refuse(error, *self._place)
        return True


def shown(place: Sequence[str]) -> str:
    """As one would write it in the file."""
    return ".".join(name if _BARE.fullmatch(name) else f'"{name}"' for name in place)
