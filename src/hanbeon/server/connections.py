"""Connections: limits of their number, of the time a request takes, and of the rest of one that was answered early."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Callable
from typing import Any

from hanbeon.clock import Clock
from hanbeon.logs import get_logger
from hanbeon.settings import Settings

_log = get_logger("hanbeon.server")
_TOLD_EVERY = 10.0
_BACKLOG = 2_048


class ConnectionLimit:
    """Counts open connections, WebSockets and event streams included, and refuses those beyond the limits."""

    def __init__(self, total: int, per_address: int, clock: Clock, refused: Callable[[str], None]) -> None:
        self.total, self.per_address = total, per_address
        self._clock, self._refused = clock, refused
        self._open: Counter[str] = Counter()
        self._number = 0
        self._told_at = -_TOLD_EVERY

    def admit(self, address: str) -> Callable[[], None] | None:
        """Count a connection and return a function that ends it, to be called once; None if there is no room."""
        group = _group(address)
        full = "total" if self._number >= self.total else "address" if self._open[group] >= self.per_address else None
        if full is not None:
            self._refuse(address, full)
            return None
        self._number += 1
        self._open[group] += 1

        def release() -> None:
            self._number -= 1
            self._open[group] -= 1
            if not self._open[group]:
                del self._open[group]

        return release

    def _refuse(self, address: str, limit: str) -> None:
        self._refused(limit)
        if not self._open[_group(address)]:
            del self._open[_group(address)]
        now = self._clock.monotonic()
        if now - self._told_at >= _TOLD_EVERY:  # A client that opens too many does so by the thousand.
            self._told_at = now
            _log.warning("connection_refused", address=address, limit=limit, open=self._number)


def limits_within(descriptors: int, settings: Settings) -> tuple[int, int, int]:
    """Return the limits in total and by address, and the backlog of the sockets, for so many descriptors.

    Clients get at most half of the descriptors, and those that were accepted but not yet counted a quarter: the rest is
    for the database, files and processes of jobs.
    """
    share = min(1.0, descriptors / 2 / settings.max_connections)
    total = max(1, int(settings.max_connections * share))
    per_address = max(1, min(total, int(settings.max_connections_per_address * share)))
    return total, per_address, max(1, min(_BACKLOG, descriptors // 4))


def _group(address: str) -> str:
    """Return the address, or its network of 64 bits: a single IPv6 host usually has all of it."""
    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(found.ipv4_mapped) if found.ipv4_mapped else str(ipaddress.IPv6Network((found, 64), strict=False))


MOST_BYTES = 67_108_864
MOST_SECONDS = 30.0


class RequestRest:
    """The transport of a connection, with a `close` that waits for the rest of the request if it is `unread`."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._dropped = 0
        self._timer: asyncio.TimerHandle | None = None
        self.unread = False
        """Set while the client has not sent the whole request, and always for a WebSocket, whose clients send on."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def is_draining(self) -> bool:
        return self._timer is not None

    def close(self) -> None:
        if self.is_draining:
            return
        if not self.unread or self.is_closing() or not self._transport.can_write_eof():
            self._transport.close()
            return
        self._timer = asyncio.get_running_loop().call_later(MOST_SECONDS, self._transport.abort)
        self._transport.write_eof()  # The client sees the end of the response, and may close.
        self._transport.resume_reading()

    def is_closing(self) -> bool:
        return self.is_draining or self._transport.is_closing()

    def drop(self, size: int) -> None:
        """Count bytes that nobody waits for, and give up on a client that sends too many of them."""
        self._dropped += size
        if self._dropped > MOST_BYTES:
            self._transport.abort()

    def begin(self) -> None:
        """Begin to count again: the next request has begun."""
        self._dropped = 0

    def end(self) -> None:
        """The connection is lost."""
        if self._timer is not None:
            self._timer.cancel()


BYTES_A_SECOND = 1_000
"""Large requests over slow links get more time: this many received bytes extend the deadline by a second."""


class RequestTimeout:
    """Times each request on a connection in turn, and gives up on one that is not complete in time.

    `paused` returns true while the server does not read the connection: the client is not to blame for that time.
    """

    def __init__(self, seconds: float, paused: Callable[[], bool], give_up: Callable[[], None]) -> None:
        self._seconds = seconds
        self._paused, self._give_up = paused, give_up
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0

    def wait(self) -> None:
        """Start the timer, unless it is running."""
        if self._timer is None:
            self._due = self._loop.time() + self._seconds
            self._timer = self._loop.call_at(self._due, self._check)

    def came(self, size: int) -> None:
        """Extend the deadline; the timer reads it when it fires, and need not be replaced."""
        self._due += size / BYTES_A_SECOND

    def end(self) -> None:
        """Stop the timer: the request is complete, or the connection is lost."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        now = self._loop.time()
        if self._paused():
            self._due = now + self._seconds
        if now < self._due:
            self._timer = self._loop.call_at(self._due, self._check)
        else:
            self._timer = None
            self._give_up()
