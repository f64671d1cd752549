"""The databases' drivers, each imported when the first connection needs it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class LazyModule:
    """Stands for a module and imports it for the first attribute that is read. Each is looked up once."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        vars(self)[name] = value
        return value


if TYPE_CHECKING:
    import apsw as apsw
    import asyncpg as asyncpg

    from hanbeon.store.database import asyncpg_classes as asyncpg_classes
else:
    apsw = LazyModule("apsw")
    asyncpg = LazyModule("asyncpg")
    asyncpg_classes = LazyModule("hanbeon.store.database.asyncpg_classes")
