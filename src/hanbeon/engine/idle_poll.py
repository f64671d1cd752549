"""One poll for what several loops wait for, in case a hint is lost: an idle instance asks the database rarely."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hanbeon.clock import Clock
from hanbeon.engine.poller import Poller
from hanbeon.engine.pool import Pool
from hanbeon.settings import Settings
from hanbeon.store.operations.claim import may_claim
from hanbeon.store.operations.promote import next_moment_us
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx


class IdlePoll:
    """Reads in one transaction when jobs are due, and whether pollers and pools may have work; wakes these.

    So a pool whose tasks are not used costs next to nothing.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        pools: Sequence[Pool],
        pollers: Mapping[Poller, Callable[[], None]],
    ) -> None:
        """`pollers`: what wakes each of them."""
        self._store, self._settings, self._clock, self._pollers = store, settings, clock, pollers
        self._pools = pools
        self._looks_at = 0.0
        """When it looks after the pools again: due times are read more often while many are due."""
        for pool in pools:
            pool.looked_after = True

    async def next_due(self) -> int | None:
        """Return the microseconds until the next pending job is due or one expires (negative: overdue), or None."""
        now = self._clock.monotonic()
        pools = [each for each in self._pools if each.claimer.has_room] if now >= self._looks_at else []
        tasks = [task for each in pools for task in each.claimer.tasks()]

        async def look(tx: Tx) -> tuple[int | None, list[Callable[[], None]], bool]:
            wait_us = await next_moment_us(tx)
            woken = [wake for each, wake in self._pollers.items() if await each.look(tx)]
            return wait_us, woken, bool(tasks) and await may_claim(tx, tasks)

        wait_us, woken, may_be_ready = await self._store.read(look)
        for wake in woken:
            wake()
        if pools:
            # A little less than the pause of the caller, or every other look would be left out.
            self._looks_at = now + 0.8 * self._settings.poll
        if may_be_ready:
            for pool in pools:
                pool.work_arrived()
        return wait_us
