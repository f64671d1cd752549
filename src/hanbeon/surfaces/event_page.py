"""Pages of a surface's events, read from the engine's feed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from hanbeon.domain.event_cursor import Cursor
from hanbeon.domain.events import Event
from hanbeon.events.feed import Feed

T = TypeVar("T")
_BATCHES = 100
_PAGES = 10


class EventSource(NamedTuple):
    """The events of a queue, or of all, in the words of a surface; `translate` returns None for those of others."""

    queue: str | None
    translate: Callable[[Event], Any]


async def read_page(feed: Feed, source: EventSource, cursor: Cursor, kind: Callable[..., T]) -> T:
    """Read the next events of a source. `after` of the page also passes over the events of others, once.

    It ends with the first events found, or after a few pages of the feed, so that no call reads all those of others.
    """
    position = await feed.position(cursor)
    after, items, more = position.after, [], True
    for _ in range(_PAGES):
        found = await feed.read(after, _BATCHES, source.queue)
        if not found:
            more = False
            break
        after = found[-1].id
        items = [each for event in found if (each := source.translate(event)) is not None]
        if items:
            break
    resumed = position._replace(after=after).cursor
    return kind(items=items, after=after, more=more, incarnation=position.incarnation, cursor=resumed, gap=position.gap)
