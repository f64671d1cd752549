"""A cheap check that the database takes writes, for readiness."""

from __future__ import annotations

import asyncio

from hanbeon.clock import Clock
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.store import Store

_EVERY_SECONDS = 5.0
_EVERY_SECONDS_WHILE_REFUSED = 1.0


class WriteProbe:
    """Writes something now and then, however often it is asked, and remembers the answer."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._refusal: DatabaseUnavailable | None = None
        self._writing: asyncio.Task[None] | None = None
        self._asked_at = 0.0

    async def check(self, seconds: float) -> None:
        """Raise DatabaseUnavailable if the last write was refused.

        Waits at most `seconds` for a new answer. One that takes longer is no refusal: on SQLite, others may write.
        """
        if self._writing is None or (self._writing.done() and self._is_due()):
            self._asked_at = self._clock.monotonic()
            self._writing = asyncio.get_running_loop().create_task(self._write())
        await asyncio.wait([self._writing], timeout=seconds)
        if self._refusal is not None:
            raise type(self._refusal)(str(self._refusal))

    def _is_due(self) -> bool:
        pause = _EVERY_SECONDS if self._refusal is None else _EVERY_SECONDS_WHILE_REFUSED
        return self._clock.monotonic() - self._asked_at >= pause

    async def _write(self) -> None:
        try:
            await self._store.probe_write()
        except DatabaseUnavailable as error:
            self._refusal = error
        else:
            self._refusal = None
