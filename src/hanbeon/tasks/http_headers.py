"""Headers of an HTTP call. A value may name a secret, `${NAME}`, which is read where and when the job runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hanbeon.errors import InvalidInput, TaskError
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.options import named_texts

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_SECRET = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"\{(args|job)\.")
# Set by Hanbeon or its HTTP library: framing, connection, and which job it is.
_RESERVED = frozenset(
    [
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "idempotency-key",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
_OURS = "hanbeon-"
_OF_THE_CONNECTION = _RESERVED - {"accept-encoding", "idempotency-key"}


def check_not_of_connection(name: str, field: str) -> None:
    """Reject headers that say where a request goes, where it ends, or how its connection is used."""
    if name.strip().lower() in _OF_THE_CONNECTION:
        raise InvalidInput(Rule("header_of_connection"), field=field)


def headers(value: Any, field: str) -> dict[str, str]:
    """Check headers as written: they contain the names of secrets, not the secrets."""
    given = named_texts(value, field)
    seen: set[str] = set()
    for name, text in given.items():
        where = f"{field}.{name[:40]}"
        if not _NAME.fullmatch(name):
            raise InvalidInput(Rule("header_names", got=quoted(name)), field=field)
        if name.lower() in _RESERVED or name.lower().startswith(_OURS):
            raise InvalidInput(Rule("header_set_by_us"), field=where)
        if name.lower() in seen:
            raise InvalidInput(Rule("header_twice"), field=where)
        seen.add(name.lower())
        _check(text, where)
    return given


def _check(value: str, field: str) -> None:
    if not _VALUE.fullmatch(value):
        raise InvalidInput(Rule("must_be", what=Rule("ascii_line")), field=field)
    if _PLACE.search(value):
        raise InvalidInput(
            Rule("header_arguments"),
            field=field,
        )
    for match in _SECRET.finditer(value):
        name = match.group(1)
        if name is not None and not _VARIABLE.fullmatch(name):
            raise InvalidInput(Rule("not_a_variable", got=quoted(name)), field=field)


def fill_headers(templates: Mapping[str, str], environ: Mapping[str, str]) -> tuple[dict[str, str], frozenset[str]]:
    """Return the headers for one job, and the secrets in them. No error shows a secret."""
    secrets: set[str] = set()

    def secret(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "${"
        if name not in environ:
            raise TaskError(
                f"the variable {name} is not set in the environment of this worker; set it and restart the worker"
            )
        if not _VALUE.fullmatch(environ[name]):
            raise TaskError(f"the variable {name} contains a line break or non-ASCII text, which a header cannot")
        secrets.add(environ[name])
        return environ[name]

    return {name: _SECRET.sub(secret, value).strip() for name, value in templates.items()}, frozenset(secrets)
