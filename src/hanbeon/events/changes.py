"""Hints that something has changed, for pages that ask for what they show: no event is read for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

from hanbeon.domain.event_cursor import EventPlace
from hanbeon.events.follower import Delivered
from hanbeon.events.hub import Hub

EVERY_SECONDS = 1.0


class ChangeFollower:
    """Gives a message after changes, at most once a second. However many there are, they cost one wake-up."""

    def __init__(self, place: EventPlace, words: Callable[[], Delivered]) -> None:
        self.place, self._words = place, words
        self.changed = asyncio.Event()
        self._given_at = float("-inf")

    async def next(self) -> Delivered:
        """The next message, as soon as there is a change. Cancelling this loses none."""
        now = asyncio.get_running_loop().time
        await self.changed.wait()
        await asyncio.sleep(max(0.0, self._given_at + EVERY_SECONDS - now()))
        self.changed.clear()
        self._given_at = now()
        return self._words()


@contextlib.contextmanager
def following_changes(hub: Hub, place: EventPlace, words: Callable[[], Delivered]) -> Iterator[ChangeFollower]:
    """Follow the wake-ups that come with every commit of an event. One that is lost is not repeated."""
    follower = ChangeFollower(place, words)
    with hub.calling(follower.changed.set, "event"):
        yield follower
