"""Polls for due schedules. It only creates executions; workers run them like any other job."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from zoneinfo import ZoneInfo

from hanbeon.clock import MICROS, Clock, SystemClock, iso, micros
from hanbeon.engine.loop import AGAIN, BETWEEN_TRIES
from hanbeon.ids import new_id
from hanbeon.logs import get_logger, log_enabled
from hanbeon.settings import Settings
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules import fire_rows as fires
from hanbeon.surfaces.schedules.declaration import Declaration
from hanbeon.surfaces.schedules.declarer import ScheduleDeclarer
from hanbeon.surfaces.schedules.fire_rows import Firing
from hanbeon.surfaces.schedules.vocabulary import FireOutcome

_log = get_logger("hanbeon.engine")
_debug_enabled = log_enabled("hanbeon.engine", logging.DEBUG)
_AT_ONCE = 1_000
_BETWEEN_TURNS = 0.5
_BETWEEN_PAGES = 0.1
_IDLE_POLLS = 6


class SchedulePoller:
    """On every instance, with no leader: the others skip what one has locked."""

    name = "fire"
    hints = ("fire",)

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock | None = None,
        declared: Callable[[], Sequence[Declaration]] = tuple,
    ) -> None:
        self._store, self.settings = store, settings
        self._clock = clock or SystemClock()
        self._declarer = ScheduleDeclarer(store, declared)
        self._polls_at = 0.0
        self.waiting = False
        """True while fires wait for an execution of their task to end."""
        self._turn_after: str | None = None
        self.done: Counter[str] = Counter()
        """Decisions of this instance, by outcome."""

    async def run_once(self) -> float:
        """Fire what is due; return the time until the next one is."""
        pause = await self._poll()
        self._polls_at = self._clock.monotonic() + pause
        return pause

    @property
    def declared(self) -> Sequence[str]:
        """The schedules that this worker declares."""
        return self._declarer.names

    async def declare(self, by: str, alive_within_us: int) -> None:
        await self._declarer.declare(by, alive_within_us)

    async def look(self, tx: Tx) -> bool:
        """Return True if a schedule is due before the next planned poll."""
        moment = await fires.next_moment(tx)
        if moment.waiting and not self.waiting:
            return True
        if moment.wait_us is None:
            return False
        return self._clock.monotonic() + moment.wait_us / MICROS < self._polls_at - BETWEEN_TRIES

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
        return AGAIN if await self._step(self._due) else BETWEEN_TRIES

    async def _step(self, step: Callable[[Tx], Awaitable[Firing]]) -> int:
        fired = await self._store.write(step)
        self.done.update(fired.fires)
        _log_fires(fired, self.settings.zone)
        return fired.schedules

    async def _due(self, tx: Tx) -> Firing:
        return await fires.fire_due(tx, self._store.lanes, new_id, micros(self.settings.misfire_grace), _AT_ONCE)

    async def _turns(self, tx: Tx) -> Firing:
        fired = await fires.fire_waiting(tx, self._store.lanes, new_id, _AT_ONCE, self._turn_after)
        self._turn_after = fired.last_id
        return fired


def _log_fires(fired: Firing, zone: ZoneInfo) -> None:
    """Log one entry for all decisions of a step; fires without an execution also one by one, at DEBUG."""
    if not fired.lines:
        return
    _log.info("schedules_fired", late=round(fired.latest_us / MICROS, 3), **fired.outcomes)
    if not _debug_enabled():
        return
    for line in fired.lines:
        if line.outcome is not FireOutcome.CREATED:
            _log.debug(
                "fire_passed",
                schedule=line.schedule_id,
                fire_at=iso(line.fire_at, zone, "milliseconds"),
                outcome=line.outcome.value,
                reason=line.reason,
                more=line.more,
            )
