"""`[settings]`: the settings of an instance, where neither the App nor the environment says otherwise."""

from __future__ import annotations

import os
import reprlib
import typing
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hanbeon.clock import seconds_of
from hanbeon.config.reader import Reader
from hanbeon.errors import InvalidInput
from hanbeon.settings import FILE, SECRET, Settings, validation_messages
from hanbeon.tasks.options import check_names

_SQLITE = "sqlite:///"
_WORDS = {bool: "true or false", int: "a whole number", float: 'a number of seconds, or text like "30s"', str: "text"}
_KINDS: dict[str, type] = {
    name: (typing.get_args(field.annotation) or (field.annotation,))[0] for name, field in Settings.model_fields.items()
}


def read_settings(told: Any, reading: Reader) -> dict[str, Any]:
    """Values that fit, each by itself and all together."""
    values: dict[str, Any] = {}
    for name, value in reading.table(told, "settings").items():
        with reading.at("settings"):
            check_names([name], Settings.model_fields, "[settings]")
            values[name] = _value(name, value)
    try:
        Settings(**values)
    except ValidationError as error:
        for name, why in validation_messages(error):
            if name in values:  # Any other is one of the environment, and none of the file's business.
                del values[name]
                reading.refuse(InvalidInput(why, field=name), "settings")
    if "database_url" in values:
        values["database_url"] = beside(values["database_url"], reading.folder)
    for name in [name for name in values if name.endswith(FILE)]:
        values[name] = os.path.normpath(reading.folder / values[name])
    return values


def _value(name: str, value: Any) -> Any:
    kind = _KINDS[name]
    if kind is float and isinstance(value, str):
        return seconds_of(value, name)
    # To Python, true is a whole number too.
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or isinstance(value, bool) != (kind is bool):
        told = "it" if name.endswith(SECRET) else reprlib.repr(value)
        raise InvalidInput(f"{told} does not fit; use {_WORDS[kind]}", field=name)
    return value


def beside(url: str, folder: Path) -> str:
    """A relative path of SQLite's is one of the file's folder, so that all who read the file mean the same database."""
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.startswith(("/", ":")):
        return url
    return f"{_SQLITE}{os.path.normpath(folder / path)}"
