"""`[secrets]`: names for variables of the environment and files. Their values are never read here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hanbeon.config.reader import Reader
from hanbeon.errors import InvalidInput
from hanbeon.outbound.secret_use import check_hosts, check_uses
from hanbeon.outbound.secrets import SecretSource, check_secret_name
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.options import check_names

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
