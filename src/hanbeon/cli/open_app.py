"""Opens the database that a command uses."""

from __future__ import annotations

import contextlib
import getpass
import os
from collections.abc import AsyncIterator
from pathlib import Path

from hanbeon.app import App
from hanbeon.cli.command_words import command_words
from hanbeon.cli.location import database_settings
from hanbeon.clock import SystemClock
from hanbeon.domain.actor import acting
from hanbeon.errors import NotFound
from hanbeon.store.backends import open_store
from hanbeon.store.database.sqlite import SqliteDatabase

_FEW_CONNECTIONS = 2


@contextlib.asynccontextmanager
async def open_app(database: str | None, *, create: bool = False) -> AsyncIterator[App]:
    """Open an App without tasks on a database that exists, unless it may be created."""
    settings = database_settings(database, pool_size=_FEW_CONNECTIONS)
    if not create:
        refuse_missing_file(settings.database_url)
    app = App()
    app.settings = settings
    async with app:
        with recorded():
            yield app


def recorded() -> contextlib.AbstractContextManager[None]:
    """Record what the command writes under the name of who runs it."""
    command, target = command_words()
    return acting(_user(), "cli", command, target)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # A container may run as a number without a name.
        return f"uid {os.getuid()}"


def refuse_missing_file(url: str) -> None:
    """Raise if a SQLite file is missing: opening a mistyped name would create a new, empty database."""
    if (path := _missing_file(url)) is not None:
        raise NotFound(f"there is no file {path}; check --database, HANBEON_DATABASE_URL or hanbeon.toml")


def will_be_created(url: str) -> bool:
    """Return whether the URL names a missing SQLite file that the first worker can create."""
    path = _missing_file(url)
    return path is not None and path.parent.is_dir()


def _missing_file(url: str) -> Path | None:
    database = open_store(url, SystemClock()).database
    return database.path if isinstance(database, SqliteDatabase) and not database.path.exists() else None
