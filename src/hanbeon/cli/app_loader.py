"""Loads the App of a command: the one `--app module:name` refers to, with the tasks and settings of `hanbeon.toml`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hanbeon.app import App
from hanbeon.cli.location import named_file
from hanbeon.config.file import NAME, ConfigFile, find, load
from hanbeon.config.imports import find_app
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule

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
