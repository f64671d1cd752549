"""One bounded pass of a worker, where none runs all the time: until it is idle, or its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from hanbeon.clock import micros
from hanbeon.engine.loop import AGAIN, BETWEEN_TRIES
from hanbeon.engine.worker import Done, Worker
from hanbeon.settings import Settings
from hanbeon.store.operations.prune import retain
from hanbeon.store.store import Store

GRACE_SHARE = 0.2
"""The share of the budget for running jobs to finish: nothing begins then."""
_LOOK_SECONDS = 0.1
_PRUNE_BATCH = 500


class Ticked(NamedTuple):
    """`idle`: there was nothing left that could run at that moment. `fired`: the work of pollers, by outcome."""

    idle: bool
    seconds: float
    done: Done
    fired: Mapping[str, int]


def grace_within(budget: float, settings: Settings) -> float:
    """Return how long jobs may finish at the end, within the budget."""
    return min(settings.shutdown_grace, budget * GRACE_SHARE)


async def tick(worker: Worker, store: Store, settings: Settings, budget: float, stop: asyncio.Event) -> Ticked:
    """Run a worker that has not been started, for `budget` seconds at the most, or until `stop` is set.

    It is an instance like any other, so many at once do no harm. The worker's own shutdown grace ends the time; what
    still runs is handed back then, without burning a retry.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with worker:
        idle = await _until_idle(worker, began + budget - grace_within(budget, settings), stop)
    pruned = await _maintain(store, settings, began + budget)
    done = worker.done
    return Ticked(idle, loop.time() - began, done._replace(pruned=done.pruned + pruned), _polled(worker))


def _polled(worker: Worker) -> Mapping[str, int]:
    return {outcome: number for each in worker.pollers for outcome, number in each.done.items()}


async def _until_idle(worker: Worker, ends_at: float, stop: asyncio.Event) -> bool:
    loop = asyncio.get_running_loop()
    while (left := ends_at - loop.time()) > 0 and not stop.is_set():
        if not len(worker.attempts) and await _no_work_arrives(worker) and await worker.end_if_idle():
            return True
        await worker.attempts.any_left(min(left, _LOOK_SECONDS))
    return False


async def _no_work_arrives(worker: Worker) -> bool:
    for each in worker.work_loops:
        pause = await each.run_once()
        # What is promoted or fired now, by the worker's own loop for example, can be claimed in a moment.
        if pause <= AGAIN or pause is BETWEEN_TRIES:
            return False
    return not len(worker.attempts)


async def _maintain(store: Store, settings: Settings, ends_at: float) -> int:
    """Do what the worker's slower loops may not have reached: number, fold and prune; return how many were pruned."""
    loop = asyncio.get_running_loop()
    pruned = 0
    while loop.time() < ends_at and (await store.number_events() or await store.fold()):
        pass
    retention, every = micros(settings.retention), micros(settings.prune_every)
    while loop.time() < ends_at and (
        found := (
            await store.write(lambda tx: retain(tx, store.lanes, store.retention, retention, every, _PRUNE_BATCH))
        ).pruned
    ):
        pruned += found
    return pruned
