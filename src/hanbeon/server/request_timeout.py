"""How long a client may take over a request: who sends slowly, or nothing, does not hold a connection for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

BYTES_A_SECOND = 1_000
"""A request may be large and its way slow: so much that has come is worth another second."""


class RequestTimeout:
    """Waits for one request after the other on a connection, and gives up where one is not there in time.

    `paused` says whether the connection is not being read: what has not come then is not the client's fault.
    """

    def __init__(self, seconds: float, paused: Callable[[], bool], give_up: Callable[[], None]) -> None:
        self._seconds = seconds
        self._paused, self._give_up = paused, give_up
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0

    def wait(self) -> None:
        """From now on, unless it waits already."""
        if self._timer is None:
            self._due = self._loop.time() + self._seconds
            self._timer = self._loop.call_at(self._due, self._look)

    def came(self, size: int) -> None:
        """The timer is left as it is: it finds out by itself that there is more time."""
        self._due += size / BYTES_A_SECOND

    def end(self) -> None:
        """All of the request is there, or the connection is not."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        now = self._loop.time()
        if self._paused():
            self._due = now + self._seconds
        if now < self._due:
            self._timer = self._loop.call_at(self._due, self._look)
        else:
            self._timer = None
            self._give_up()
