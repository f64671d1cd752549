"""Reading events in the order they committed, from any id on, without missing one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from hanbeon.domain.events import Event
from hanbeon.events.hub import Hub
from hanbeon.store.port import Store

_POLL_SECONDS = 1.0


class Feed:
    """Events by public id. Reading numbers what has committed meanwhile, so nobody waits for a relay."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self._store, self._hub = store, hub

    async def read(self, after: int, batches: int = 100) -> list[Event]:
        """The next events behind `after`; empty if there are none yet."""
        await self._store.number_events()
        return await self._store.events_after(after, batches)

    async def follow(self, after: int) -> AsyncIterator[Event]:
        """Every event behind `after`, for ever."""
        arrived = asyncio.Event()
        with self._hub.calling(arrived.set, "event"):
            while True:
                arrived.clear()
                for event in await self.read(after):
                    after = event.id
                    yield event
                    # Something is there: look again at once before waiting.
                    arrived.set()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_POLL_SECONDS):
                        await arrived.wait()
