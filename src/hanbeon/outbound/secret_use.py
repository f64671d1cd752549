"""Permitted uses of a secret: the hosts that it may be sent to, and by what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from hanbeon.errors import InvalidInput
from hanbeon.outbound.origin import split_url
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

HTTP_USE, TARGET_USE = "http", "target"
USES = (HTTP_USE, TARGET_USE)
"""In the request of an HTTP step; in the target of a message."""
_BELOW = "*."
_KIND = re.compile(r"[a-z][a-z0-9]*://", re.ASCII)
_PORT = re.compile(r":[0-9]+")
_EXAMPLE = "write a host like api.example.org, *.example.org, api.example.org:8443, or a kind of target like slack://"


class Place(NamedTuple):
    """A receiver: a host, with its port where there is one, or a kind of target whose host is the service's own.

    `kind://` and more is a receiver that no declaration can name.
    """

    host: str
    port: int | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host and "://" not in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def check_hosts(value: Any) -> tuple[str, ...]:
    """Return the hosts of a declaration as they are compared."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
        raise InvalidInput(Rule("not_a_host_list", example=_EXAMPLE), field="hosts")
    return tuple(_host(each) for each in found)


def check_uses(value: Any) -> tuple[str, ...]:
    """Return the uses of a declaration."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or any(each not in USES for each in found):
        raise InvalidInput(Rule("must_be", what=Rule("list_of", items=USES), got=quoted(value)), field="use")
    return tuple(dict.fromkeys(found))


def is_among(hosts: Iterable[str], place: Place) -> bool:
    """True if one of the declared hosts is this place. One without a port permits every port."""
    return any(_is(pattern, place) for pattern in hosts)


def shown(hosts: Sequence[str]) -> str:
    return ", ".join(hosts)


def _host(text: str) -> str:
    if _KIND.fullmatch(text.lower()):
        return text.lower()
    below = text.startswith(_BELOW)
    wrong = InvalidInput(Rule("not_hosts", got=quoted(text), example=_EXAMPLE), field="hosts")
    try:
        origin, rest = split_url(f"https://{text.removeprefix(_BELOW)}", "hosts")
    except InvalidInput:
        raise wrong from None
    if rest or "*" in text.removeprefix(_BELOW):
        raise wrong
    with_port = _PORT.search(text.rpartition("]")[2]) is not None
    return (_BELOW if below else "") + str(Place(origin.host, origin.port if with_port else None))


def _is(pattern: str, place: Place) -> bool:
    host = place.host.lower()
    if _KIND.fullmatch(pattern) or "://" in host:
        return pattern == host
    if pattern in (str(Place(host)), str(Place(host, place.port))):
        return True
    name, _, port = pattern.rpartition(":") if _PORT.search(pattern) and "]" not in pattern else (pattern, "", "")
    return (
        name.startswith(_BELOW)
        and host.endswith(name.removeprefix("*"))
        and len(host) >= len(name)
        and port in ("", str(place.port))
    )
