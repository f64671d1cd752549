"""A subscriber: live while it keeps up, from the database while it does not, and never with a gap."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hanbeon.domain.event_cursor import EventPosition, GapReason
from hanbeon.domain.events import Event
from hanbeon.errors import HanbeonError
from hanbeon.store.operations.events import events_after
from hanbeon.store.store import Store

if TYPE_CHECKING:
    from hanbeon.events.broadcast import Broadcast, Serializer

_FIRST_BATCHES = 4
_MOST_BATCHES = 200
_AIM = 1_000
"""Events of a page: decoding more at once would delay everything else in the process."""


class Pages:
    """Reads page after page; the number of batches of the next one follows from how full the last one was."""

    def __init__(self) -> None:
        self._batches = _FIRST_BATCHES

    async def read(self, store: Store, after: int, queue: str | None = None) -> list[Event]:
        """Return the next numbered events after `after`; empty if there are none.

        With `queue`, others' may be left out.
        """
        found = await store.read(lambda tx: events_after(tx, after, self._batches, queue))
        if len(found) > _AIM:
            self._batches = max(1, self._batches * _AIM // len(found))
        elif len(found) * 2 < _AIM:
            self._batches = min(_MOST_BATCHES, self._batches * 2)
        return found


WAITING_MOST = 1_000
"""How many messages wait for one follower before it counts as slow."""


class Delivered(NamedTuple):
    """A serialized event; `data` is JSON, and the same bytes for all subscribers."""

    id: int
    type: str
    data: bytes


class EventGap(NamedTuple):
    """The stream goes on after `after`, because of `reason`: see `GapReason`."""

    after: int
    reason: GapReason = GapReason.SLOW


class StreamOpened(NamedTuple):
    """The first message of a stream: whose events it brings, and after which."""

    position: EventPosition


Message = Delivered | EventGap | StreamOpened


class MessageSource(Protocol):
    """The messages of one connection."""

    position: EventPosition

    async def next(self) -> Delivered | EventGap:
        """The next message, as soon as there is one. Cancelling this loses none."""
        ...


class Follower:
    """Yields every event after `after` once, in the order of ids. It buffers a bounded number of them."""

    def __init__(
        self,
        broadcast: Broadcast,
        queue: str | None,
        serialize: Serializer,
        position: EventPosition,
        part: Hashable = None,
        first: Iterable[Delivered] = (),
    ) -> None:
        self.queue, self.part, self.serialize, self.position = queue, part, serialize, position
        self._broadcast = broadcast
        self._pages = Pages()
        self._waiting: deque[Delivered] = deque(first)
        self._given = self._read = position.after
        """The last event that it gave, and the last one up to which it has seen all."""
        self._live = False
        self._gap = position.gap
        self._error: Exception | None = None
        self._arrived = asyncio.Event()

    async def next(self) -> Delivered | EventGap:
        """The next message, as soon as there is one. Cancelling this loses none."""
        while not self._waiting:
            if self._error is not None:
                raise self._error
            if self._live:
                self._arrived.clear()
                await self._arrived.wait()
            elif self._gap is not None:
                reason, self._gap = self._gap, None
                return EventGap(self._given, reason)
            else:
                await self._catch_up()
        message = self._waiting.popleft()
        self._given = message.id
        return message

    def take(self, message: Delivered) -> bool:
        """Take a live message; False if it is too slow and has to catch up by itself. Never waits."""
        if message.id <= self._read:
            return True  # It was ahead of the shared reader.
        if len(self._waiting) >= WAITING_MOST:
            self._live, self._gap = False, GapReason.SLOW
        else:
            self._waiting.append(message)
            self._read = message.id
        self._arrived.set()
        return self._live

    def end(self, error: Exception) -> None:
        """End the stream; buffered messages are still delivered."""
        self._live, self._error = False, error
        self._arrived.set()

    async def _catch_up(self) -> None:
        await self._broadcast.started()
        position = self._broadcast.position
        if self._read >= position:
            self._live = True
            self._broadcast.join(self)
            return
        found = await self._broadcast.page(self._pages, self._read, self.queue)
        # Nothing follows it: whatever there was up to the position, which was handed out before this read,
        # is others', or pruned.
        read = found[-1].id if found else position
        self._waiting.extend(self._serialized(found))
        self._read = read

    def _serialized(self, events: list[Event]) -> list[Delivered]:
        messages = []
        try:
            for event in events:
                message = self.serialize(event) if self.queue in (None, event.queue) else None
                if message is not None:
                    messages.append(message)
        except HanbeonError as error:
            self.end(error)
        return messages
