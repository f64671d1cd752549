"""ready → running, as many as there are free slots."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Sequence

from hanbeon.clock import Clock, micros
from hanbeon.domain.job import Claimed
from hanbeon.engine.loop import AGAIN
from hanbeon.settings import Settings
from hanbeon.store.operations.claim import ClaimRequest, LanePosition
from hanbeon.store.store import Store

_BATCH = 500
# Something may have come in front of where the last claim left off, and the word of it may have been lost.
_PLACE_SECONDS = 1.0
_LOOKS_AT_ALL = 2
"""The first claim after news may go by a guess, and only the one behind it looks at every lane."""


class Claimer:
    """Asks for as much as fits, and starts what it gets."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        *,
        tasks: Callable[[], Sequence[str]],
        slots: Callable[[], int],
        running: Callable[[], int],
        start: Callable[[Claimed, float], None],
    ) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._tasks, self._slots, self._running, self._start = tasks, slots, running, start
        self._cursor = 0
        self._place: LanePosition | None = None
        self._place_until = 0.0
        self._home: int | None = None
        self._guessed = False
        self._came = False
        self._asking = asyncio.Lock()
        self.is_open = True
        self.instance = 0

    def look_again(self) -> None:
        """Something has come: the next claim goes by no place, and the one behind it looks at every lane."""
        self._place, self._came = None, True

    def _next_place(self, now: float) -> tuple[LanePosition | None, bool]:
        """Where to claim without a look at all lanes, and whether that is only a guess.

        What has come is most often of the kind that came last, and going there at once saves a journey. Others wait for
        no more than that: the next claim looks at all.
        """
        place, came = self._place, self._came
        self._place, self._came = None, False
        if came and self._home is not None and not self._guessed:
            self._guessed = True
            return LanePosition.before_all(self._home), True
        self._guessed = False
        if place is None or now >= self._place_until:
            self._place_until = now + _PLACE_SECONDS
            return None, False
        return place, False

    async def close(self) -> None:
        """Ask for nothing more. Returns when the last answer is here: what it brought would be stranded otherwise."""
        self.is_open = False
        async with self._asking:
            return

    async def close_if_idle(self) -> bool:
        """Ask once more, and close unless there is something: whether it is closed.

        Under one lock: what a claim that began in between brought would be handed back, and might be nobody's then.
        """
        async with self._asking:
            for _ in range(_LOOKS_AT_ALL):
                if await self._ask() <= AGAIN:
                    return False
            self.is_open = bool(self._running())
            return not self.is_open

    def reopen(self) -> None:
        self.is_open = True

    @contextlib.asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """While it lasts no claim is under way, and none that follows goes by what was known before.

        So the tasks may change meanwhile: a lane that is remembered may be one of a task that is gone.
        """
        async with self._asking:
            try:
                yield
            finally:
                self._place = self._home = None

    async def run_once(self) -> float:
        async with self._asking:
            return await self._ask()

    async def _ask(self) -> float:
        want = min(_BATCH, self._slots() - self._running())
        tasks = self._tasks()
        if not self.is_open or want <= 0 or not tasks:
            return self._settings.poll
        # The lease counts from before the claim is sent: by this clock it ends no later than by the database's.
        sent_at, began_at = self._clock.monotonic(), self._cursor
        behind, guessed = self._next_place(sent_at)
        answer = await self._store.claim(
            ClaimRequest(self.instance, tasks, want, micros(self._settings.lease), self._cursor, behind)
        )
        self._cursor = answer.cursor
        if answer.place is not None:
            self._home = answer.place.lane
        if answer.more and not guessed and not self._came:
            self._place = answer.place
        for job in answer.jobs:
            self._start(job, sent_at)
        if answer.jobs or answer.cursor or began_at:
            return AGAIN
        return self._settings.poll * random.uniform(0.8, 1.2)
