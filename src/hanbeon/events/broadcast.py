"""One reader of the feed for a whole process: it reads and serializes once, and hands out to many."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from hanbeon.domain.event_cursor import EventPosition
from hanbeon.domain.events import Event
from hanbeon.errors import DatabaseRestored, DatabaseUnavailable, HanbeonError
from hanbeon.events.changes import ChangeWatch
from hanbeon.events.follower import Delivered, Follower, Pages
from hanbeon.events.hub import Hub
from hanbeon.logs import get_logger
from hanbeon.store.operations import events as event_rows
from hanbeon.store.store import Store

Serializer = Callable[[Event], Delivered | None]
"""Serializes an event; None skips it. A HanbeonError means that nothing more will ever be delivered."""

_log = get_logger("hanbeon.events")
_POLL_SECONDS = 1.0
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0
_AT_ONCE = 100
"""How many events are handed out before the followers get their turn."""
_CATCHING_UP_AT_ONCE = 2
"""Concurrent catch-up reads, so that the engine finds free database connections however many reconnect."""


class Topic(NamedTuple):
    """The live followers of one thing, and the serializer that they share."""

    serialize: Serializer
    followers: dict[Follower, None]


class Broadcast:
    """Hands events of queues to followers. It reads while there are followers, and waits for none of them."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self._store, self._hub = store, hub
        self.changes = ChangeWatch(store)
        self._topics: dict[str | None, dict[Hashable, Topic]] = {}
        """By queue, and within it by what of the queue is followed. None: of all queues."""
        self._following = 0
        self._reader: asyncio.Task[None] | None = None
        self._started = asyncio.Event()
        self._turns = asyncio.Semaphore(_CATCHING_UP_AT_ONCE)
        self.position = 0
        """Every event up to this one has been handed out; known once it has started."""

    @contextlib.contextmanager
    def following(
        self,
        queue: str | None,
        serialize: Serializer,
        position: EventPosition,
        part: Hashable = None,
        first: Sequence[Delivered] = (),
    ) -> Iterator[Follower]:
        """Follow a queue, or all, from a position on, however far back that is.

        Followers of the same `part` of a queue share the serializer of the first, so that an event is serialized once.
        `first`: messages that this follower gets before any event.
        """
        follower = Follower(self, queue, serialize, position, part, first)
        self._following += 1
        if self._reader is None:
            self._reader = asyncio.get_running_loop().create_task(self._read())
        try:
            yield follower
        finally:
            self.leave(follower)
            self._following -= 1
            if not self._following:
                self._reader.cancel()
                self._reader = None
                self._started.clear()

    async def started(self) -> None:
        await self._started.wait()

    def join(self, follower: Follower) -> None:
        """Make a follower live. It has read up to `position`, so nothing is missing in between."""
        topics = self._topics.setdefault(follower.queue, {})
        topics.setdefault(follower.part, Topic(follower.serialize, {})).followers[follower] = None

    def leave(self, follower: Follower) -> None:
        topic = self._topics.get(follower.queue, {}).get(follower.part)
        if topic is not None:
            topic.followers.pop(follower, None)
            if not topic.followers:
                self._drop(follower.queue, follower.part)

    def _drop(self, queue: str | None, part: Hashable) -> None:
        del self._topics[queue][part]
        if not self._topics[queue]:
            del self._topics[queue]

    async def page(self, pages: Pages, after: int, queue: str | None) -> list[Event]:
        """Read events of a queue, or of all, after `after` for a follower that is not live; others' may be included."""
        async with self._turns:
            return await pages.read(self._store, after, queue)

    async def _read(self) -> None:
        loop, pause = asyncio.get_running_loop(), _PAUSE_SECONDS
        while True:
            began = loop.time()
            try:
                await self._follow()
            except DatabaseRestored as error:
                self._end_all(error)
            except DatabaseUnavailable as error:
                # Followers stay connected and get the rest when it is back.
                _log.warning("events_unreadable", error=str(error), retry_in=pause)
            except Exception as error:
                _log.exception("event_reader_failed")
                self._end_all(error)
            await asyncio.sleep(pause)
            worked = loop.time() - began > _LONGEST_PAUSE_SECONDS * 2
            pause = _PAUSE_SECONDS if worked else min(_LONGEST_PAUSE_SECONDS, pause * 2)

    async def _follow(self) -> None:
        arrived, pages = asyncio.Event(), Pages()
        with self._hub.calling(arrived.set, "event"):
            if not self._started.is_set():
                self.position = await self._store.read(event_rows.last_event_id)
                self._started.set()
            while True:
                arrived.clear()
                await self._store.number_events()
                found = await pages.read(self._store, self.position)
                for start in range(0, len(found), _AT_ONCE):
                    self._hand_out(found[start : start + _AT_ONCE])
                    await asyncio.sleep(0)
                if found:
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_POLL_SECONDS):
                        await arrived.wait()

    def _hand_out(self, events: Sequence[Event]) -> None:
        """Hand out in one step with the position, so that one who joins has neither a gap nor a duplicate."""
        for event in events:
            for queue in (event.queue, None):
                for part, topic in list(self._topics.get(queue, {}).items()):
                    self._tell(event, queue, part, topic)
        self.position = events[-1].id

    def _tell(self, event: Event, queue: str | None, part: Hashable, topic: Topic) -> None:
        try:
            delivered = topic.serialize(event)
        except HanbeonError as error:
            self._end(queue, part, error)
            return
        if delivered is not None:
            for follower in [each for each in topic.followers if not each.take(delivered)]:
                self.leave(follower)

    def _end(self, queue: str | None, part: Hashable, error: Exception) -> None:
        topic = self._topics[queue][part]
        self._drop(queue, part)
        for follower in topic.followers:
            follower.end(error)

    def _end_all(self, error: Exception) -> None:
        for queue, topics in list(self._topics.items()):
            for part in list(topics):
                self._end(queue, part, error)
