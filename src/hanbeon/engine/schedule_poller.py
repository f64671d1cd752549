"""Polls for due schedules. It only creates executions; workers run them like any other job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

import uuid_utils

from hanbeon.clock import MICROS, Clock, SystemClock, micros
from hanbeon.domain.schedules.history import FireOutcome
from hanbeon.engine.execution_log import log_fires
from hanbeon.engine.loop import AGAIN
from hanbeon.settings import Settings
from hanbeon.store.operations import fires
from hanbeon.store.operations.fires import Firing, Moment
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx

_AT_ONCE = 1_000
_BETWEEN_TRIES = 0.05
_BETWEEN_TURNS = 0.5
_BETWEEN_PAGES = 0.1
_IDLE_POLLS = 6


class SchedulePoller:
    """On every instance, with no leader: the others skip what one has locked."""

    def __init__(self, store: Store, settings: Settings, clock: Clock | None = None) -> None:
        self._store, self.settings = store, settings
        self._clock = clock or SystemClock()
        self._polls_at = 0.0
        self.waiting = False
        """True while fires wait for an execution of their task to end."""
        self._turn_after: str | None = None
        self.fired: Counter[FireOutcome] = Counter()
        """Decisions of this instance, by outcome."""

    async def run_once(self) -> float:
        """Fire what is due; return the time until the next one is."""
        pause = await self._poll()
        self._polls_at = self._clock.monotonic() + pause
        return pause

    def oversleeps(self, moment: Moment) -> bool:
        """Return True if the poller must wake before its next planned poll: other loops report the due times they read.

        So the poller need not poll often, and an idle instance queries the database less than once a second.
        """
        if moment.waiting and not self.waiting:
            return True
        if moment.wait_us is None:
            return False
        return self._clock.monotonic() + moment.wait_us / MICROS < self._polls_at - _BETWEEN_TRIES

    async def _poll(self) -> float:
        moment = await self._store.read(fires.next_moment)
        self.waiting = moment.waiting
        pause = self.settings.poll * _IDLE_POLLS
        if moment.waiting:
            await self._step(self._turns)
            pause = _BETWEEN_TURNS if self._turn_after is None else _BETWEEN_PAGES
        if moment.wait_us is None:
            return pause
        if moment.wait_us > 0:
            return min(pause, max(0.001, moment.wait_us / MICROS))
        # None found: another instance is firing them now.
        return AGAIN if await self._step(self._due) else _BETWEEN_TRIES

    async def _step(self, step: Callable[[Tx], Awaitable[Firing]]) -> int:
        fired = await self._store.write(step)
        self.fired += fired.fires
        log_fires(fired, self.settings.zone)
        return fired.schedules

    async def _due(self, tx: Tx) -> Firing:
        return await fires.fire_due(tx, self._store.lanes, _new_id, micros(self.settings.misfire_grace), _AT_ONCE)

    async def _turns(self, tx: Tx) -> Firing:
        fired = await fires.fire_waiting(tx, self._store.lanes, _new_id, _AT_ONCE, self._turn_after)
        self._turn_after = fired.last_id
        return fired


def _new_id() -> str:
    return str(uuid_utils.uuid7())
