"""Pages bounded in rows and in bytes.

A list first reads the keys and sizes of one row more than its page may have, then the rows that fit: a thousand results
of a megabyte are neither read nor sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from hanbeon.domain.bounds import PAGE_BYTES

T = TypeVar("T")
U = TypeVar("U")


class Slice(NamedTuple, Generic[T]):
    """The items of a page in order; `more` follow."""

    items: Sequence[T]
    more: bool

    def cursor(self, cursor_of: Callable[[T], Any]) -> str | None:
        """The cursor of the next page, if there is one."""
        return str(cursor_of(self.items[-1])) if self.more and self.items else None

    def of(self, items: Sequence[U]) -> Slice[U]:
        """The page with the rows that were read for its items; it ends earlier where the last ones are missing."""
        return Slice(items, self.more or len(items) < len(self.items))


def fit_page(sizes: Iterable[tuple[T, int]], limit: int, most: int | None = None) -> Slice[T]:
    """Return the keys that fit into a page of `limit` rows; always the first one, however large."""
    keys: list[T] = []
    room = PAGE_BYTES if most is None else most
    for key, size in sizes:
        room -= size
        if len(keys) == limit or (keys and room < 0):
            return Slice(keys, True)
        keys.append(key)
    return Slice(keys, False)


def keyed(rows: Iterable[Any], key: str, size: str = "bytes") -> list[tuple[Any, int]]:
    """The keys and sizes of rows."""
    return [(row[key], row[size]) for row in rows]


def merged(slices: Iterable[Slice[T]], place: Callable[[T], int], limit: int) -> Slice[T]:
    """Merge sorted slices, up to the end of the first slice that has more rows."""
    slices = list(slices)
    ends = [place(each.items[-1]) for each in slices if each.more and each.items]
    found = sorted((item for each in slices for item in each.items), key=place)
    kept = [item for item in found if not ends or place(item) <= min(ends)]
    return Slice(kept[:limit], bool(ends) or len(kept) > limit)
