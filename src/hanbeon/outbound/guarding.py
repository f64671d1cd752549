"""Keeps a library that does its own connecting from private addresses: every name that it looks up is checked."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Any

from hanbeon.outbound.addresses import why_not_public

_PROXIES = "NO_PROXY"
"""The variable that says for whom no proxy is used."""


class AddressRefused(OSError):
    """A name leads to an address that is not public."""


@contextlib.contextmanager
def only_public(*, allow_private: bool) -> Iterator[None]:
    """While it lasts, nothing in this process finds a private address, and no proxy of the environment is used.

    For the whole process, so only where nothing else runs in it. What is connected to is what was looked up, so that a
    name cannot lead elsewhere between the check and the connection, nor a redirect past it.
    """
    if allow_private:
        yield
        return
    look_up = socket.getaddrinfo

    def checked(host: Any, *args: Any, **options: Any) -> Any:
        found = look_up(host, *args, **options)
        for each in found:
            kind = why_not_public(str(each[4][0]))
            if kind is not None:
                raise AddressRefused(f"{host} is refused: a {kind} address")
        return found

    proxies = os.environ.get(_PROXIES)
    setattr(socket, "getaddrinfo", checked)  # noqa: B010 - its type knows no such change
    os.environ[_PROXIES] = "*"
    try:
        yield
    finally:
        setattr(socket, "getaddrinfo", look_up)  # noqa: B010
        del os.environ[_PROXIES]
        if proxies is not None:
            os.environ[_PROXIES] = proxies
