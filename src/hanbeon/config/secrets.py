"""`[secrets]`: names for variables of the environment and files. Their values are never read here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanbeon.config.reader import Reader
from hanbeon.errors import InvalidInput
from hanbeon.outbound.secrets import SecretSource, check_secret_name
from hanbeon.quotation import quoted
from hanbeon.tasks.options import check_names

_SOURCES = ("env", "file")
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
        raise InvalidInput(f"must be a table, got {type(value).__name__}; write {_EXAMPLE}, never the secret itself")
    check_names(value, _SOURCES, "a secret")
    if len(value) != 1:
        raise InvalidInput(f"must have either env or file; write {_EXAMPLE}")
    ((kind, where),) = value.items()
    if not isinstance(where, str) or not where or "\x00" in where or (kind == "env" and "=" in where):
        example = "SMTP_PASSWORD" if kind == "env" else "/run/secrets/smtp"
        raise InvalidInput(f"must be text like {example}, got {quoted(where)}", field=kind)
    return SecretSource(env=where) if kind == "env" else SecretSource(file=os.path.normpath(folder / where))
