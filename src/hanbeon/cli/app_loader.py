"""Finds the App of a command: the one that `--app module:name` means, with what `hanbeon.toml` adds to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hanbeon.app import App
from hanbeon.cli.config_option import named_file
from hanbeon.config.file import NAME, ConfigFile, find, load
from hanbeon.config.imports import find_app
from hanbeon.errors import InvalidInput


def load_app(target: str | None, database: str | None = None) -> App:
    """The App, on another database if one is given. What its module raises while it is imported is left as it is."""
    app = maybe_app(target, database)
    if app is None:
        raise InvalidInput(
            f"there are no tasks: say --app module:name, or write a {NAME} (`hanbeon init {NAME}`)", field="app"
        )
    return app


def maybe_app(target: str | None, database: str | None = None) -> App | None:
    """The same; None where neither an option nor a file says what tasks there are."""
    path = find(named_file())
    file = None if path is None else load(path)
    if target is None and (file is None or not file.has_tasks):
        return None
    return combined(target, file, database)


def app_or_none_of_tasks(target: str | None, database: str | None = None, **settings: Any) -> App:
    """The same; one without tasks where nothing says what tasks there are."""
    path = find(named_file())
    return combined(target, None if path is None else load(path), database).use(None, **settings)


def combined(target: str | None, file: ConfigFile | None, database: str | None = None) -> App:
    """An App by an option, or by its name in the file, or a new one; and the file's tasks and settings."""
    if target is not None:
        app = find_app(target, App, Path.cwd())
    elif file is not None and file.app is not None:
        app = find_app(file.app, App, file.folder)
    else:
        app = App()
    if app.file is not None and named_file() is None:
        file = None  # It has one of its own choice, and this one only happens to be here.
    return app.use(file, database_url=database)
