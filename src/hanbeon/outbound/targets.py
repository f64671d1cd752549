"""Notification targets: allowed kinds, and how one is shown without its passwords and tokens."""

from __future__ import annotations

import re

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted

MASK = "****"
# Kinds whose host is a server, and not the first of several tokens.
_WITH_HOST = frozenset(
    name + secure
    for name in ("mailto", "json", "xml", "form", "gotify", "matrix", "mmost", "rocket", "apprise")
    for secure in ("", "s")
)
# The last @ before the path ends what may be a user and a password, which may hold any character.
_PARTS = re.compile(r"([a-z][a-z0-9+.-]*)://(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[A-Za-z0-9._-]*)(?::[0-9]{1,5})?", re.ASCII)


def scheme_of(url: str) -> str:
    return url.partition("://")[0].lower()


def check_scheme(url: str, allowed: str, field: str | None = None) -> None:
    """Reject kinds that are not on the list: some run programs or write files on the sending machine."""
    if scheme_of(url) not in allowed.split():
        raise InvalidInput(
            f"must be of an allowed kind, got {quoted(scheme_of(url))}; "
            f"use one of {', '.join(sorted(allowed.split()))}, or allow it in the setting message_schemes",
            field=field,
        )


def masked(url: str) -> str:
    """Mask a target: its kind, and for a server its name and the user's. Rather too little than too much."""
    scheme, user, host, path, rest = _pieces(url)
    # Another @ further on: what looks like the host may be the half of a password.
    if scheme not in _WITH_HOST or not _HOST.fullmatch(host) or "@" in (path + rest).partition("=")[0]:
        return f"{scheme}://{MASK}"
    name, colon, _ = user.partition(":")
    shown = f"{scheme}://"
    if user:
        shown += f"{name}:{MASK}@" if colon else f"{name}@"
    return shown + host + (f"/{MASK}" if path.strip("/") else "") + (f"?{MASK}" if rest else "")


def without_secrets(text: str, url: str) -> str:
    """Mask the secrets of a target in a message about it."""
    scheme, user, host, path, rest = _pieces(url)
    hidden = [user, *user.split(":")[1:], *re.split(r"[/?&=#,]+", path + rest)]
    if scheme not in _WITH_HOST:
        hidden += [host, *host.split(":"), *user.split(":")]
    text = text.replace(url, masked(url))
    for secret in sorted({each for each in hidden if len(each) > 2}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def _pieces(url: str) -> tuple[str, str, str, str, str]:
    found = _PARTS.fullmatch(url)
    if found is None:
        return scheme_of(url), "", "?", "", ""
    scheme, user, host, path, rest = found.groups()
    return scheme.lower(), user or "", host, path, rest
