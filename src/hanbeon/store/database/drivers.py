"""The databases' drivers, each imported when the first connection needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanbeon.lazy_module import LazyModule

if TYPE_CHECKING:
    import apsw as apsw
    import asyncpg as asyncpg

    from hanbeon.store.database import asyncpg_classes as asyncpg_classes
else:
    apsw = LazyModule("apsw")
    asyncpg = LazyModule("asyncpg")
    asyncpg_classes = LazyModule("hanbeon.store.database.asyncpg_classes")
