"""Addresses without their secrets."""

from __future__ import annotations

import re

MASK = "****"
# The last @ before the path ends what may be a user and a password, which may hold any character.
_PARTS = re.compile(r"([a-z][a-z0-9+.-]*)://(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[A-Za-z0-9._-]*)(?::[0-9]{1,5})?", re.ASCII)


def address_parts(url: str) -> tuple[str, str, str, str, str]:
    """Scheme, user, host, path and the rest of a URL, which need not be a valid one."""
    found = _PARTS.fullmatch(url)
    if found is None:
        return url.partition("://")[0].lower(), "", "?", "", ""
    scheme, user, host, path, rest = found.groups()
    return scheme.lower(), user or "", host, path, rest


def is_host(text: str) -> bool:
    """True if it has the form of a host and a port: nothing of a password."""
    return _HOST.fullmatch(text) is not None


def masked_address(url: str) -> str:
    """Mask the address of a webhook: user, path and query may hold tokens."""
    scheme, user, host, path, rest = address_parts(url)
    if not is_host(host) or "@" in path + rest:
        return f"{scheme}://{MASK}"
    user = f"{MASK}@" if user else ""
    path = f"/{MASK}" if path.strip("/") else path
    return f"{scheme}://{user}{host}{path}" + (f"?{MASK}" if rest else "")
