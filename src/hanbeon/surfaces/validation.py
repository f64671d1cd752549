"""What clients send, checked before anything is done with it: an error says where it is and what would fit."""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Mapping
from typing import Any

from hanbeon.domain.job import check_name
from hanbeon.errors import InvalidInput
from hanbeon.tasks.options import check_names

PAGE_MOST = 1_000
CURSOR_DIGITS = 18


class inside:
    """What is refused here stands in `place`. A class, because a batch of thousands of jobs comes by."""

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InvalidInput):
            error.field = f"{self._place}.{error.field}" if error.field else self._place


def table(told: Any, owner: str, known: Collection[str] | None = None, field: str | None = None) -> dict[str, Any]:
    """An object with no other names than the known ones."""
    if not isinstance(told, Mapping):
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use an object", field=field)
    if known is not None:
        check_names([str(name)[:80] for name in told], known, owner)
    return dict(told)


def items(told: Any, field: str, most: int) -> list[Any]:
    if not isinstance(told, list | tuple):
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use a list", field=field)
    if len(told) > most:
        raise InvalidInput(f"{len(told):,} are too many; send at most {most:,} at once", field=field)
    return list(told)


def text(told: Any, field: str, *, required: bool = True) -> str:
    """A name that the database can keep."""
    if not isinstance(told, str):
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use text", field=field)
    check_name(field, told, required=required)
    return told


def whole(told: Any, field: str, low: int, high: int) -> int:
    if not isinstance(told, int) or isinstance(told, bool) or not low <= told <= high:
        raise InvalidInput(f"{reprlib.repr(told)} does not fit; use a whole number, {low} to {high}", field=field)
    return told


def page_size(limit: Any) -> int:
    return whole(limit, "limit", 1, PAGE_MOST)


def place(cursor: Any) -> int:
    """Where a page begins; cursors come from the page before."""
    if cursor is None:
        return 0
    if not isinstance(cursor, str) or not (cursor.isascii() and cursor.isdecimal()) or len(cursor) > CURSOR_DIGITS:
        raise InvalidInput(f"{reprlib.repr(cursor)} is no cursor; pass on the next_cursor of a page", field="cursor")
    return int(cursor)
