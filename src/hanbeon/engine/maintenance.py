"""Maintenance: recover, promote, number events, fold, prune. Every instance does it; repeats are harmless."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hanbeon.chance import chance
from hanbeon.clock import MICROS, micros
from hanbeon.engine.execution_log import log_end
from hanbeon.engine.loop import AGAIN, BETWEEN_TRIES
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.store.operations.complete import recover
from hanbeon.store.operations.promote import run_due
from hanbeon.store.operations.prune import retain
from hanbeon.store.store import Store

_log = get_logger("hanbeon.engine")
_BATCH = 500
_BETWEEN_NUMBERINGS = 0.1
_BETWEEN_FOLDINGS = 2.0
_FOLDED_AT_ONCE = 2000
_BETWEEN_PRUNINGS = 0.05


class Maintenance:
    def __init__(self, store: Store, settings: Settings, next_due: Callable[[], Awaitable[int | None]]) -> None:
        """`next_due` returns the microseconds until the next pending job is due, None if there is none."""
        self._store, self.settings, self._next_due = store, settings, next_due
        self._clock_jumped = False
        self.recovered = self.promoted = self.pruned = 0
        """Counts since the start."""

    async def recover(self) -> float:
        """Recover the jobs of instances that are gone, or of an earlier run of this one."""
        recovered = await self._store.write(lambda tx: recover(tx, self._store.lanes, _BATCH, chance.random()))
        self.recovered += len(recovered)
        for item in recovered:
            _log.warning("recovered", job=item.id, task=item.task, attempt=item.fence, became=item.state.value)
            log_end(item, item, self.settings.zone)
        if len(recovered) == _BATCH:
            return AGAIN
        return min(self.settings.poll, self.settings.lease / 6) * chance.uniform(0.8, 1.2)

    async def promote(self) -> float:
        """pending → ready, and the ends of what has expired; then sleep until the next one is due."""
        wait_us = await self._next_due()
        if wait_us is None:
            return self.settings.poll
        if wait_us > 0:
            return min(self.settings.poll, max(0.001, wait_us / MICROS))
        # None promoted: another instance is promoting them now.
        expired, promoted = await self._store.write(lambda tx: run_due(tx, self._store.lanes, _BATCH))
        self.promoted += promoted
        return AGAIN if expired or promoted else BETWEEN_TRIES

    async def number(self) -> float:
        """Give committed events their public ids. Wake-ups come with every commit: gather them.

        Readers number what they need themselves, so this may be slow; it keeps the next reader from finding much.
        """
        await asyncio.sleep(_BETWEEN_NUMBERINGS)
        await self._store.number_events()
        return self.settings.poll * 6

    async def fold(self) -> float:
        """Add the deltas of events to the tallies, every other second between all instances while there are any.

        Readers add up what is not folded themselves, so this may be slow, too.
        """
        await asyncio.sleep(_BETWEEN_FOLDINGS)
        # A little less than the pause, or an instance alone would find its own last time too near.
        folded = await self._store.fold(_FOLDED_AT_ONCE, micros(0.8 * _BETWEEN_FOLDINGS))
        return AGAIN if folded == _FOLDED_AT_ONCE else self.settings.poll * 12

    async def prune(self) -> float:
        """Delete what is past its retention, a little at a time."""
        retention, every = micros(self.settings.retention), micros(self.settings.prune_every)
        pruned, lag_us = await self._store.write(
            lambda tx: retain(tx, self._store.lanes, self._store.retention, retention, every, _BATCH)
        )
        self.pruned += pruned
        if bool(lag_us) is not self._clock_jumped:
            self._clock_jumped = bool(lag_us)
            if lag_us:
                _log.warning(
                    "clock_jumped",
                    ahead=round(lag_us / MICROS),
                    why="the database's clock has jumped ahead; retention counts from the time before until the "
                    "clock has gone on for a day; check the clock",
                )
        if pruned >= _BATCH:
            return _BETWEEN_PRUNINGS
        return self.settings.prune_every * chance.uniform(0.8, 1.2)
