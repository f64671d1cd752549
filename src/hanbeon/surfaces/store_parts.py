"""Parts of a store that surfaces declare: tables, statements, queues, end hooks, and rows that retention deletes."""

from __future__ import annotations

from collections.abc import Iterable

from hanbeon.clock import Clock, SystemClock
from hanbeon.store.backends import open_store
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations.end_hooks import register_end_hook
from hanbeon.store.statements import add_part
from hanbeon.store.store import Store
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import Surface, load, reserve_queues


def add_parts(surfaces: Iterable[Surface]) -> None:
    """Add the tables and statements of these surfaces to all stores."""
    for each in surfaces:
        if each.store is not None:
            add_part(load(each.store))


# At once: a database may be migrated before a store is opened.
add_parts(SURFACES)


def add_surfaces(store: Store, surfaces: Iterable[Surface] = SURFACES) -> Store:
    """Give a store the parts of all surfaces. One without them can neither prune nor end jobs of built-in tasks."""
    surfaces = list(surfaces)
    reserve_queues(surfaces)
    add_parts(surfaces)
    for each in surfaces:
        if each.end_hook is not None:
            register_end_hook(load(each.end_hook))
    store.retention = [load(each.retention) for each in surfaces if each.retention is not None]
    return store


def whole_store(url: str) -> Store:
    """Return the store of a URL with the parts of all surfaces, not yet open, for commands that need no App."""
    return add_surfaces(open_store(url, SystemClock()))


async def migrate(url: str, clock: Clock | None = None) -> list[int]:
    """Migrate a database to the current schema; return the versions applied. SQLite migrates whenever it is opened."""
    store = open_store(url, clock or SystemClock())
    try:
        if isinstance(store.database, PostgresDatabase):
            await store.database.connect()
            return await store.database.migrate()
        await store.database.open()
        return []
    finally:
        await store.close()
