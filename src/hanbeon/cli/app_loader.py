"""The App of a command: the one `--app` refers to, with `hanbeon.toml`, or one of the database alone."""

from __future__ import annotations

import contextlib
import getpass
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hanbeon.app import App
from hanbeon.cli.command_words import command_words
from hanbeon.cli.location import database_settings, named_file
from hanbeon.clock import SystemClock
from hanbeon.config.file import NAME, ConfigFile, find, load
from hanbeon.config.imports import find_app
from hanbeon.domain.actor import acting
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.rule import Rule
from hanbeon.store.backends import open_store
from hanbeon.store.database.sqlite import SqliteDatabase

_DATABASE = "HANBEON_DATABASE_URL"


def load_app(target: str | None, database: str | None = None) -> App:
    """Return the App, on another database if one is given. Exceptions from importing its module pass through.

    Without tasks it does what surfaces need, as the server's worker does, if something says in which database.
    """
    app = maybe_app(target, database)
    if app is None and (database is not None or os.environ.get(_DATABASE) or find(named_file()) is not None):
        return app_or_empty(target, database)
    if app is None:
        raise InvalidInput(Rule("no_tasks_here", file=NAME), field="app")
    return app


def maybe_app(target: str | None, database: str | None = None) -> App | None:
    """Return the App, or None where neither an option nor a file defines tasks."""
    path = find(named_file())
    file = None if path is None else load(path)
    if target is None and (file is None or not file.has_tasks):
        return None
    return combined(target, file, database)


def app_or_empty(target: str | None, database: str | None = None, **settings: Any) -> App:
    """Return the App, or one without tasks where neither an option nor a file defines any."""
    path = find(named_file())
    return combined(target, None if path is None else load(path), database).use(None, **settings)


def combined(target: str | None, file: ConfigFile | None, database: str | None = None) -> App:
    """Return the App of the option, else of the file, else a new one, with the file's tasks and settings added."""
    if target is not None:
        app = find_app(target, App, Path.cwd())
    elif file is not None and file.app is not None:
        app = find_app(file.app, App, file.folder)
    else:
        app = App()
    if app.file is not None and named_file() is None:
        file = None  # The App chose a file of its own; this one merely lies in the current folder.
    return app.use(file, database_url=database)


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
        raise NotFound(Rule("no_database_file", path=path))


def will_be_created(url: str) -> bool:
    """Return whether the URL names a missing SQLite file that the first worker can create."""
    path = _missing_file(url)
    return path is not None and path.parent.is_dir()


def _missing_file(url: str) -> Path | None:
    database = open_store(url, SystemClock()).database
    return database.path if isinstance(database, SqliteDatabase) and not database.path.exists() else None
