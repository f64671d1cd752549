"""Wake-ups: one listener per App, many callbacks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

from hanbeon.guarded_task import guarded_task
from hanbeon.store.database.notify import Notifier

Callback = Callable[[], None]


class Hub:
    """Passes the hints of all instances on to callbacks of this one. Starts listening with the first callback."""

    def __init__(self, notifier: Notifier) -> None:
        self._waker = notifier
        self._callbacks: dict[str, dict[Callback, None]] = {}
        self._listener: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def calling(self, callback: Callback, *hints: str) -> Iterator[None]:
        """While active, `callback` is called for each of these hints, and never from another thread."""
        if self._listener is None or self._listener.done():
            self._listener = guarded_task(self._waker.listen(self._received))
        for hint in hints:
            self._callbacks.setdefault(hint, {})[callback] = None
        try:
            yield
        finally:
            for hint in hints:
                self._callbacks[hint].pop(callback, None)

    def hints(self, callback: Callback) -> contextlib.AbstractContextManager[None]:
        """While active, `callback` is called when there may be events, for `wait.until`."""
        return self.calling(callback, "event")

    def _received(self, sent: set[str]) -> None:
        for hint in sorted(sent):
            for callback in list(self._callbacks.get(hint, ())):
                callback()

    async def close(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait([self._listener])
            self._listener = None
