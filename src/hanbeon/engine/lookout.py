"""One poll for the jobs of several pools, so that a pool whose tasks are not used costs next to nothing."""

from __future__ import annotations

from collections.abc import Sequence

from hanbeon.engine.pool import Pool
from hanbeon.settings import Settings
from hanbeon.store.operations.claim import may_claim
from hanbeon.store.store import Store


class Lookout:
    """Polls for ready jobs of the pools' tasks, in case a hint is lost, and wakes the pools if there may be any."""

    def __init__(self, store: Store, settings: Settings, pools: Sequence[Pool]) -> None:
        self._store, self._settings, self._pools = store, settings, pools
        for pool in pools:
            pool.looked_after = True

    async def run_once(self) -> float:
        pools = [each for each in self._pools if each.claimer.has_room]
        tasks = [task for each in pools for task in each.claimer.tasks()]
        if not tasks:
            return self._settings.poll
        if await self._store.read(lambda tx: may_claim(tx, tasks)):
            for pool in pools:
                pool.work_arrived()
        return self._settings.poll
