"""Sections of `hanbeon.toml` that are not of a surface: `[queues.NAME]`, `[settings]` and `[secrets]`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanbeon.clock import seconds_of
from hanbeon.config.reader import Reader
from hanbeon.domain.job import check_name
from hanbeon.domain.limits import QueueLimits, check_limits
from hanbeon.errors import InvalidInput
from hanbeon.outbound.secrets import SecretSource, check_hosts, check_secret_name, check_uses
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.setting_fields import SECRET, InvalidFields
from hanbeon.settings import FILE, Settings
from hanbeon.tasks.options import check_names

Declared = dict[str, dict[str, Any]]


def read_queues(value: Any, reader: Reader) -> Declared:
    """Return the limits that each table names, and no others."""
    queues: Declared = {}
    for name, table in reader.table(value, "queues").items():
        limits = reader.table(table, "queues", name)
        with reader.at("queues", name):
            check_name("name", name, required=True)
            found = reader.every(("queues", name), limits, _limits)
            if found is not None:
                queues[name] = found
    return queues


def _limits(table: Mapping[str, Any]) -> dict[str, Any]:
    check_names(table, QueueLimits.__struct_fields__, "a queue")
    return check_limits(table)


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
        for name, rule in error.broken:
            if name in values:  # Any other comes from the environment, not from this file.
                del values[name]
                reader.refuse(InvalidInput(rule, field=name), "settings")
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


_SOURCES = ("env", "file")
_RULES = ("hosts", "use")
_EXAMPLE = '{ env = "SMTP_PASSWORD" } or { file = "/run/secrets/smtp" }'


def read_secrets(value: Any, reader: Reader) -> dict[str, SecretSource]:
    """Return the declarations that are valid."""
    found = {}
    for name, source in reader.table(value, "secrets").items():
        with reader.at("secrets", name):
            check_secret_name(name)
            found[name] = _source(source, reader.folder)
    return found


def _source(value: Any, folder: Path) -> SecretSource:
    if not isinstance(value, Mapping):
        # The value may be the secret itself, which must not be repeated.
        raise InvalidInput(Rule("secret_not_a_table", got=type(value).__name__, example=_EXAMPLE))
    check_names(value, (*_SOURCES, *_RULES), "a secret")
    found = [(kind, where) for kind, where in value.items() if kind in _SOURCES]
    if len(found) != 1:
        raise InvalidInput(Rule("secret_source", example=_EXAMPLE))
    ((kind, where),) = found
    if not isinstance(where, str) or not where or "\x00" in where or (kind == "env" and "=" in where):
        example = "SMTP_PASSWORD" if kind == "env" else "/run/secrets/smtp"
        raise InvalidInput(Rule("must_be", what=Rule("text_like", example=example), got=quoted(where)), field=kind)
    hosts = check_hosts(value["hosts"]) if "hosts" in value else ()
    use = check_uses(value["use"]) if "use" in value else ()
    if kind == "env":
        return SecretSource(env=where, hosts=hosts, use=use)
    return SecretSource(file=os.path.normpath(folder / where), hosts=hosts, use=use)
