"""The event feed: events in commit order, from any id on, without missing one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from hanbeon.domain.event_cursor import Cursor, EventPosition, event_id, position_of
from hanbeon.domain.events import Event
from hanbeon.events.hub import Hub
from hanbeon.store.operations.events import event_bounds, events_after
from hanbeon.store.store import Store

_POLL_SECONDS = 1.0


class Feed:
    """Events by public id. Reading numbers what has committed meanwhile, so no reader waits for a relay."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self._store, self._hub = store, hub

    async def position(self, cursor: Cursor) -> EventPosition:
        """Return where a reader with this cursor goes on; raises OtherIncarnation if it is from before a restore."""
        incarnation = self._store.incarnation
        wanted = event_id(cursor, incarnation)
        bounds = await self._store.read(event_bounds)
        if wanted > bounds.last:
            # Committed events that are not numbered yet do not make it one ahead.
            while await self._store.number_events():
                pass
            bounds = await self._store.read(event_bounds)
        return position_of(wanted, incarnation, *bounds)

    async def read(self, after: int, batches: int = 100, queue: str | None = None) -> list[Event]:
        """Return the next events after `after`; empty if there are none yet. With `queue`, others' may be left out."""
        await self._store.number_events()
        return await self._store.read(lambda tx: events_after(tx, after, batches, queue))

    async def follow(self, after: int, queue: str | None = None) -> AsyncIterator[Event]:
        """Yield every event after `after`, without end; with `queue`, others' may be left out."""
        arrived = asyncio.Event()
        with self._hub.calling(arrived.set, "event"):
            while True:
                arrived.clear()
                for event in await self.read(after, queue=queue):
                    after = event.id
                    yield event
                    # Something is there: look again at once before waiting.
                    arrived.set()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_POLL_SECONDS):
                        await arrived.wait()
