"""Pages of the feed of about the same size, although its batches hold one event or a thousand."""

from __future__ import annotations

from hanbeon.domain.events import Event
from hanbeon.store.operations.events import events_after
from hanbeon.store.store import Store

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
