"""Addresses without their secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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


_SHORT = 4


def mask_values(text: str, values: Iterable[str]) -> str:
    """Mask these values wherever they occur, also where they overlap: nothing of either is left.

    One of fewer than four characters is masked only where it stands alone: masked inside words, it would spoil the
    text, and the gaps would tell what it is.
    """
    spans = sorted(span for value in {each for each in values if each and each in text} for span in _spans(text, value))
    shown, end = [], 0
    for start, stop in spans:
        if start >= end:
            shown += [text[end:start], MASK]
        end = max(end, stop)
    return "".join([*shown, text[end:]])


def _spans(text: str, value: str) -> Iterator[tuple[int, int]]:
    at = text.find(value)
    while at >= 0:
        stop = at + len(value)
        if len(value) >= _SHORT or not (text[at - 1 : at].isalnum() or text[stop : stop + 1].isalnum()):
            yield at, stop
        at = text.find(value, at + 1)
