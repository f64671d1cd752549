"""`[settings]`: settings that apply where neither the App nor the environment sets them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hanbeon.clock import seconds_of
from hanbeon.config.reader import Reader
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.setting_fields import InvalidFields
from hanbeon.settings import FILE, SECRET, Settings
from hanbeon.tasks.options import check_names

_SQLITE = "sqlite:///"
_EXPECTED = {bool: Rule("boolean"), int: Rule("integer"), float: Rule("setting_duration"), str: Rule("text")}


def read_settings(value: Any, reader: Reader) -> dict[str, Any]:
    """Return the settings that are valid, each by itself and all together."""
    values: dict[str, Any] = {}
    for name, setting in reader.table(value, "settings").items():
        with reader.at("settings"):
            check_names([name], Settings.model_fields, "[settings]")
            values[name] = _checked(name, setting)
    try:
        Settings(**values)
    except InvalidFields as error:
        for name, message in error.messages:
            if name in values:  # Any other comes from the environment, not from this file.
                del values[name]
                reader.refuse(InvalidInput(Rule("foreign_text", text=message), field=name), "settings")
    if "database_url" in values:
        values["database_url"] = relative_to(values["database_url"], reader.folder)
    for name in [name for name in values if name.endswith(FILE)]:
        values[name] = os.path.normpath(reader.folder / values[name])
    return values


def _checked(name: str, value: Any) -> Any:
    kind = Settings.model_fields[name].kind
    if kind is float and isinstance(value, str):
        return seconds_of(value, name)
    # In Python, a bool is an int too.
    valid = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not valid or isinstance(value, bool) != (kind is bool):
        got = type(value).__name__ if name.endswith(SECRET) else quoted(value)
        raise InvalidInput(Rule("must_be", what=_EXPECTED[kind], got=got), field=name)
    return value


def relative_to(url: str, folder: Path) -> str:
    """Resolve a relative SQLite path in the file's folder, so that all readers of the file use the same database."""
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.startswith(("/", ":")):
        return url
    return f"{_SQLITE}{os.path.normpath(folder / path)}"
