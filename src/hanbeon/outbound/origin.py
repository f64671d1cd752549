"""The origin of a URL: scheme, host and port."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from typing import NamedTuple

from hanbeon.errors import InvalidInput
from hanbeon.extras import extra
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

HTTP, HTTPS = "http", "https"
_PORTS = {HTTP: 80, HTTPS: 443}
_ADDRESS = re.compile(r"(https?)://([^/?#]*)([^#]*)(#.*)?", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9._-]{1,253}")
# Some parsers read a backslash as a slash, so they would disagree about where the host ends.
_ODD = re.compile(r"[\s\x00-\x1f\x7f\\]")


class Origin(NamedTuple):
    """Scheme, host and port; never chosen by a job."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port, as in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


def split_url(url: str, field: str) -> tuple[Origin, str]:
    """Split a URL into its origin and the rest; other schemes and passwords are rejected."""
    match = _ADDRESS.fullmatch(url)
    if match is None or not match.group(2):
        raise InvalidInput(Rule("must_be", what=Rule("http_address")), field=field)
    scheme, authority, rest, _ = match.groups()
    if "@" in authority:
        raise InvalidInput(
            Rule("no_user_in_url"),
            field=field,
        )
    if _ODD.search(url):
        raise InvalidInput(Rule("no_spaces_in_url"), field=field)
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise InvalidInput(Rule("invalid_host", got=quoted(authority)), field=field)
    scheme = scheme.lower()
    port = _PORTS[scheme] if parts.group(2) is None else int(parts.group(2))
    if not 0 < port < 65_536:
        raise InvalidInput(Rule("invalid_port", got=port), field=field)
    return Origin(scheme, _host(parts.group(1), field), port), rest


def _host(text: str, field: str) -> str:
    if text.startswith("["):
        try:
            return str(IPv6Address(text[1:-1]))
        except ValueError as error:
            raise InvalidInput(Rule("invalid_host_because", got=quoted(text), error=error), field=field) from error
    host = text.lower()
    if not host.isascii():
        with extra("http", "a host name that is not ASCII"):
            import idna

        try:
            host = idna.encode(host, uts46=True).decode()
        except idna.IDNAError as error:
            raise InvalidInput(Rule("invalid_host_because", got=quoted(text), error=error), field=field) from error
    if _HOST.fullmatch(host) is None:
        raise InvalidInput(Rule("invalid_host", got=quoted(text)), field=field)
    return host
