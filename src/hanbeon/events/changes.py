"""Hints that something has changed, for pages that ask for what they show: no event is read for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

from hanbeon.domain.event_cursor import EventPosition
from hanbeon.errors import DatabaseUnavailable
from hanbeon.events.follower import Delivered
from hanbeon.logs import get_logger
from hanbeon.store.operations.events import last_change
from hanbeon.store.store import Store

EVERY_SECONDS = 1.0
LOOK_SECONDS = 0.5
_log = get_logger("hanbeon.events")


class ChangeFollower:
    """Gives a message after changes, at most once a second."""

    def __init__(self, position: EventPosition, serialize: Callable[[], Delivered]) -> None:
        self.position, self._serialize = position, serialize
        self.changed = asyncio.Event()
        self._given_at = float("-inf")

    async def next(self) -> Delivered:
        """The next message, as soon as a change is known. Cancelling this loses none."""
        now = asyncio.get_running_loop().time
        await self.changed.wait()
        await asyncio.sleep(max(0.0, self._given_at + EVERY_SECONDS - now()))
        self.changed.clear()
        self._given_at = now()
        return self._serialize()


class ChangeWatch:
    """Looks for changes while anybody follows them, twice a second: one small statement, however much changes.

    Wake-ups come with every commit. A process that only shows pages would be woken a hundred times a second for them,
    and with PostgreSQL a session of the server, too.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followers: dict[ChangeFollower, None] = {}
        self._watching: asyncio.Task[None] | None = None
        self._seen: tuple[int | None, int] | None = None
        """None: unknown, so that the next look finds a change."""

    async def join(
        self, position: EventPosition, serialize: Callable[[], Delivered]
    ) -> contextlib.AbstractContextManager[ChangeFollower]:
        """Follow what changes from now on, for the block."""
        if self._watching is None:
            seen = await self._look()
            if self._watching is None:
                self._seen = seen
        return self._following(ChangeFollower(position, serialize))

    @contextlib.contextmanager
    def _following(self, follower: ChangeFollower) -> Iterator[ChangeFollower]:
        self._followers[follower] = None
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch())
        try:
            yield follower
        finally:
            del self._followers[follower]
            if not self._followers and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            seen = await self._look()
            if seen is not None and seen != self._seen:
                for follower in self._followers:
                    follower.changed.set()
            self._seen = seen

    async def _look(self) -> tuple[int | None, int] | None:
        try:
            return await self._store.database.look(last_change)
        except DatabaseUnavailable:
            return None
        except Exception:
            _log.exception("change_watch_failed")
            return None
