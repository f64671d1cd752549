"""Rows that are readable by position and by name, for drivers that have none."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class Row(tuple[Any, ...]):
    """A row readable by position and by column name, like asyncpg's."""

    names: dict[str, int]

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.names[key] if isinstance(key, str) else key)


@lru_cache(maxsize=1024)
def row_type(names: tuple[str, ...]) -> type[Row]:
    """Return the row class for these columns."""
    return type("Row", (Row,), {"names": {name: place for place, name in enumerate(names)}})
