"""Keeps a library that makes its own connections from private addresses: every name lookup is checked."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from hanbeon.outbound.addresses import Private, why_refused

_one_at_a_time = threading.Lock()
_PROXIES = "NO_PROXY"
"""The variable that lists hosts for which no proxy is used."""


class AddressRefused(OSError):
    """A name leads to an address that is not public."""


@contextlib.contextmanager
def only_public(*, allow_private: Private) -> Iterator[None]:
    """While active, no lookup in this process returns a private address that is not allowed.

    Nor is a proxy of the environment used, unless all private addresses are allowed.

    In the main thread that holds for all threads, which is meant for a process that does nothing else. In another
    thread it holds for that one: beside it a worker goes on, whose own database may well be at a private address. What
    is connected to is what was looked up, so that a name cannot lead elsewhere between the check and the connection,
    nor a redirect past it.
    """
    # Of two that overlap, the first to end would take the check of the other away.
    with _one_at_a_time:
        yield from _checking(socket.getaddrinfo, allow_private)


def _checking(look_up: Callable[..., Any], allow_private: Private) -> Iterator[None]:
    here = threading.current_thread()
    alone = here is threading.main_thread()

    def checked(host: Any, *args: Any, **options: Any) -> Any:
        found = look_up(host, *args, **options)
        if not alone and threading.current_thread() is not here:
            return found
        for each in found:
            kind = why_refused(str(each[4][0]), allow_private)
            if kind is not None:
                raise AddressRefused(f"{host} is refused: a {kind} address")
        return found

    proxies = os.environ.get(_PROXIES)
    direct = allow_private is not True  # Where all is allowed, so is a proxy of the environment.
    setattr(socket, "getaddrinfo", checked)  # noqa: B010 - its type knows no such change
    if direct:
        os.environ[_PROXIES] = "*"
    try:
        yield
    finally:
        setattr(socket, "getaddrinfo", look_up)  # noqa: B010
        if direct:
            del os.environ[_PROXIES]
        if direct and proxies is not None:
            os.environ[_PROXIES] = proxies
