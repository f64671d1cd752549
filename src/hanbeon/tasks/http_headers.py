"""Headers of an HTTP call. A value may name a secret, `${NAME}`, which is read where and when the job runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hanbeon.errors import InvalidInput, TaskError
from hanbeon.tasks.options import named_texts

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_SECRET = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"\{(args|job)\.")
# Who speaks HTTP for the job says these: how long it is, how it travels, and which job it is.
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


def headers(told: Any, field: str) -> dict[str, str]:
    """As somebody wrote them, with the names of secrets and not the secrets."""
    given = named_texts(told, field)
    seen: set[str] = set()
    for name, value in given.items():
        where = f"{field}.{name[:40]}"
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"{name[:40]!r} is no name of a header", field=field)
        if name.lower() in _RESERVED or name.lower().startswith(_OURS):
            raise InvalidInput("this header is set by Hanbeon; remove it", field=where)
        if name.lower() in seen:
            raise InvalidInput("it is there twice, but for upper case", field=where)
        seen.add(name.lower())
        _check(value, where)
    return given


def _check(value: str, field: str) -> None:
    if not _VALUE.fullmatch(value):
        raise InvalidInput("line breaks and what is not ASCII cannot be sent in a header", field=field)
    if _PLACE.search(value):
        raise InvalidInput(
            "a header takes no arguments, only ${NAME} of the worker's environment; send them in the path, the query "
            "or the body. Job id, attempt and fence are sent anyway",
            field=field,
        )
    for match in _SECRET.finditer(value):
        name = match.group(1)
        if name is not None and not _VARIABLE.fullmatch(name):
            raise InvalidInput(f"{name[:40]!r} is no variable; write $${{ for the text itself", field=field)


def fill_headers(templates: Mapping[str, str], environ: Mapping[str, str]) -> tuple[dict[str, str], frozenset[str]]:
    """The headers for one job, and the secrets in them. No error shows a secret."""
    secrets: set[str] = set()

    def secret(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "${"
        if name not in environ:
            raise TaskError(f"the variable {name} is not set in the environment of this worker; set it and start again")
        if not _VALUE.fullmatch(environ[name]):
            raise TaskError(
                f"the variable {name} of this worker holds a line break or what is not ASCII; a header cannot"
            )
        secrets.add(environ[name])
        return environ[name]

    return {name: _SECRET.sub(secret, value).strip() for name, value in templates.items()}, frozenset(secrets)
