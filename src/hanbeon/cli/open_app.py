"""Opens the database that a command works on."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from hanbeon.app import App
from hanbeon.cli.config_option import settings_here
from hanbeon.clock import SystemClock
from hanbeon.errors import NotFound
from hanbeon.settings import Settings
from hanbeon.store.backends import open_store
from hanbeon.store.sqlite import SqliteDatabase

_FEW_CONNECTIONS = 2


@contextlib.asynccontextmanager
async def open_app(database: str | None) -> AsyncIterator[App]:
    """An open App without tasks, on a database that exists already."""
    settings = settings_here(database_url=database, pool_size=_FEW_CONNECTIONS)
    refuse_missing_file(settings.database_url)
    async with opened(settings) as app:
        yield app


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[App]:
    """An open App without tasks; a file of SQLite's that is not there is made."""
    app = App()
    app.settings = settings
    async with app:
        yield app


def refuse_missing_file(url: str) -> None:
    """Opened by a mistyped name, SQLite's file would be a new one, empty and sound."""
    if (path := _missing_file(url)) is not None:
        raise NotFound(f"there is no file {path}; check --database, HANBEON_DATABASE_URL or hanbeon.toml")


def will_be_made(url: str) -> bool:
    """Whether it is a file of SQLite's that is not there yet and that the first worker can make."""
    path = _missing_file(url)
    return path is not None and path.parent.is_dir()


def _missing_file(url: str) -> Path | None:
    database = open_store(url, SystemClock()).database
    return database.path if isinstance(database, SqliteDatabase) and not database.path.exists() else None
