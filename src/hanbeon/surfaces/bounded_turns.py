"""Turns of costly requests: one at a time, with a few that wait, so that no number of clients makes a server slow."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from hanbeon.errors import Busy


class BoundedTurns:
    """One turn at a time. At most `waiting` callers wait for theirs; others are refused at once."""

    def __init__(self, work: str, waiting: int) -> None:
        self._work, self._most = work, waiting + 1
        self._inside = 0
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it for the duration of the block; raises Busy if too many wait."""
        if self._inside >= self._most:
            raise Busy(f"{self._inside} {self._work} are under way or wait here, which is the most; try again later")
        self._inside += 1
        try:
            async with self._lock:
                yield
        finally:
            self._inside -= 1
