"""Backups of a database, and what follows a restore from one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import msgspec

from hanbeon.clock import SystemClock
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.settings import masked
from hanbeon.store.backends import open_store
from hanbeon.store.database import sqlite_backup
from hanbeon.store.database.sqlite import SqliteDatabase
from hanbeon.store.operations.complete import recover
from hanbeon.store.operations.incarnation import Restored, begin_incarnation
from hanbeon.store.store import Store

_RECOVERED_AT_ONCE = 500
StoreOf = Callable[[str], Store]


class RestoreReport(msgspec.Struct, frozen=True):
    """A restored database. `kept`: where the file that it replaced is now."""

    incarnation: str
    interrupted: int
    recovered: int
    kept: str | None = None


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite database, absolute; None for PostgreSQL."""
    database = open_store(url, SystemClock()).database
    return database.path.absolute() if isinstance(database, SqliteDatabase) else None


async def back_up(url: str, target: Path, *, force: bool = False) -> int:
    """Copy a SQLite database while it is in use; return the size of the copy."""
    return await asyncio.to_thread(sqlite_backup.copy_database, _file_of(url), target, force=force)


async def restore(url: str, source: Path, store_of: StoreOf) -> RestoreReport:
    """Put a checked copy of the backup in the database's place, as a new incarnation. Refused while it is in use."""
    target = _file_of(url)
    await asyncio.to_thread(sqlite_backup.check_copy, source)
    with sqlite_backup.replacing(target) as (part, kept):
        await asyncio.to_thread(sqlite_backup.copy_database, source, part, force=True)
        report = await after_restore(store_of(f"sqlite:///{quote(str(part))}"))
    return msgspec.structs.replace(report, kept=None if kept is None else str(kept))


async def after_restore(store: Store) -> RestoreReport:
    """Begin a new incarnation of a restored database, and end the attempts that were running as lost.

    The store is not open, and has the parts of all surfaces: jobs of theirs may end.
    """
    await store.open()
    try:
        restored: Restored = await store.write(begin_incarnation)
    finally:
        await store.close()
    # Opened again: the store above belongs to the incarnation that has just ended.
    await store.open()
    try:
        recovered = 0
        while batch := await store.write(lambda tx: recover(tx, store.lanes, _RECOVERED_AT_ONCE)):
            recovered += len(batch)
    finally:
        await store.close()
    return RestoreReport(restored.incarnation.id, restored.interrupted, recovered)


def commands(url: str) -> dict[str, str]:
    """Return the commands that back up a PostgreSQL database and restore it, without its password."""
    shown = masked(url)
    return {
        "backup": f"pg_dump --format=custom --file=hanbeon.dump --dbname='{shown}'",
        "restore": f"pg_restore --clean --if-exists --single-transaction --dbname='{shown}' hanbeon.dump",
        "after": "hanbeon restore --after",
    }


def _file_of(url: str) -> Path:
    path = sqlite_file(url)
    if path is None:
        raise InvalidInput(Rule("sqlite_backup_only"), field="database_url")
    return path
