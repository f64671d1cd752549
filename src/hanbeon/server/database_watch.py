"""Bounds the wait for a database that has stopped answering: a request gets its 503 in seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from hanbeon.errors import DatabaseUnavailable
from hanbeon.rule import Rule
from hanbeon.store.store import Store

T = TypeVar("T")
ANSWER_SECONDS = 10.0
"""A request that waits for a database that does not respond is answered within this time."""
_ASK_AFTER_SECONDS = 4.0
_PROBE_SECONDS = 4.0


class DatabaseWatch:
    """Tells a database that is slow, which may take its time, from one that does not respond at all.

    A statement that hangs is noticed only by its own time limit, which must leave room for long ones. So a request that
    takes long has the database asked for something trivial, over a new connection.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._probe: asyncio.Task[bool] | None = None
        self._given_up: set[asyncio.Task[Any]] = set()

    async def run(self, request: Coroutine[Any, Any, T]) -> T:
        """Run a request for as long as the database responds.

        One that is given up is cancelled, but not waited for: it may have something to put in order first.
        """
        task = asyncio.get_running_loop().create_task(request)
        try:
            while True:
                done, _ = await asyncio.wait([task], timeout=_ASK_AFTER_SECONDS)
                if done:
                    return task.result()
                if not await self._responds():
                    raise DatabaseUnavailable(Rule("database_silent"))
        finally:
            if not task.done():
                task.cancel()
                self._given_up.add(task)
                task.add_done_callback(self._ended)

    async def _responds(self) -> bool:
        """Ask once for all that wait at the moment."""
        if self._probe is None or self._probe.done():
            self._probe = asyncio.get_running_loop().create_task(self._store.responds(_PROBE_SECONDS))
        return await asyncio.shield(self._probe)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._given_up.discard(task)
        if not task.cancelled():
            task.exception()  # It has been answered; nobody else asks.
