"""Request timeouts: a client that sends slowly, or nothing, cannot hold a connection indefinitely."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

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
