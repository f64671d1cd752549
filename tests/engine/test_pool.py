"""Pools of a worker: claimed, counted, stopped and handed back alike, each in slots of its own."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.engine.pool import TaskPool
from hanbeon.engine.worker import Worker
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.tasks.task import Task, TaskOptions
from hanbeon.testing import TestKit


class Bodies:
    """Bodies that run until `release` is set, and how many of each task do."""

    def __init__(self) -> None:
        self.running: Counter[str] = Counter()
        self.release = asyncio.Event()

    def task(self, name: str) -> Task[..., Any]:
        async def body() -> None:
            self.running[name] += 1
            await self.release.wait()

        return Task(name, body, TaskOptions())


class Relay:
    """Counts its steps, and hears of no listener unless the test says so."""

    def __init__(self) -> None:
        self.listening = False
        self.quiet_seconds = 77.0
        self.steps = self.checks = 0

    def look_again(self) -> None:
        self.checks += 1

    async def run_once(self) -> float:
        self.steps += 1
        return 1.0


def pooled_worker(app: App, *pools: TaskPool, concurrency: int = 1) -> Worker:
    settings = app.settings.model_copy(update={"concurrency": concurrency, "shutdown_grace": 0.0})
    return Worker(app.store, app.hub, app.tasks, settings, app.clock, [AsyncExecutor()], pools=pools)


def pool_of(task: Task[..., Any], slots: int, relay: Relay | None = None) -> TaskPool:
    return TaskPool(task.name, {task.name: task}, slots, hints=("work",), relay=relay)


async def test_pools_fill_only_their_own_slots(kit: TestKit) -> None:
    bodies = Bodies()
    kit.app.tasks.add(bodies.task("work"))
    worker = pooled_worker(kit.app, pool_of(bodies.task("a"), 2), pool_of(bodies.task("b"), 3))
    for task in ("work", "a", "b"):
        for _ in range(5):
            await kit.make_job(task)
    await worker.start_ready()
    assert bodies.running == {"work": 1, "a": 2, "b": 3}
    (instance,) = [each for each in await kit.app.instances() if each.id == worker.instance]
    assert (instance.capacity, instance.tasks) == (1, ["work"])
    bodies.release.set()
    await worker.settle()
    assert [len(pool.running) for pool in worker.pools] == [0, 0, 0]
    while await worker.tick():
        pass
    assert bodies.running == {"work": 5, "a": 5, "b": 5}
    await worker.stop()


async def test_stop_hands_back_the_jobs_of_every_pool(kit: TestKit) -> None:
    bodies = Bodies()
    kit.app.tasks.add(bodies.task("work"))
    worker = pooled_worker(kit.app, pool_of(bodies.task("a"), 2))
    jobs = [await kit.make_job(task) for task in ("work", "a", "a")]
    await worker.start_ready()
    assert len(worker.attempts) == 3
    writing = asyncio.ensure_future(worker.complete.run())
    await worker.stop()
    writing.cancel()
    assert [await job.state() for job in jobs] == [State.READY] * 3
    assert not any(pool.claimer.is_open or pool.running for pool in worker.pools)


async def test_end_if_idle_reopens_every_pool_while_one_has_work(kit: TestKit) -> None:
    bodies = Bodies()
    worker = pooled_worker(kit.app, pool_of(bodies.task("a"), 1), pool_of(bodies.task("b"), 1))
    await worker.register()
    await kit.make_job("b")
    assert not await worker.end_if_idle()
    assert all(pool.claimer.is_open for pool in worker.pools)
    bodies.release.set()
    await worker.settle()
    while await worker.tick():
        pass
    assert await worker.end_if_idle()
    assert not any(pool.claimer.is_open for pool in worker.pools)
    await worker.stop()


@pytest.mark.parametrize("listening", [False, True])
async def test_pool_polls_rarely_while_its_relay_has_no_listener(kit: TestKit, listening: bool) -> None:
    relay = Relay()
    relay.listening = listening
    worker = pooled_worker(kit.app, pool_of(Bodies().task("a"), 1, relay))
    await worker.start_ready()
    assert (relay.steps, relay.checks) == (1, 1)
    pause = await worker.pools[0].claim.run_once()
    assert pause < relay.quiet_seconds if listening else pause == relay.quiet_seconds
    await worker.stop()


async def test_one_poll_finds_the_jobs_of_all_pools(kit: TestKit) -> None:
    """No hint comes here: only the common poll can wake the claim of a pool, which itself rests for long."""
    bodies = Bodies()
    worker = pooled_worker(kit.app, pool_of(bodies.task("a"), 1), pool_of(bodies.task("b"), 1))
    await worker.register()
    pool = worker.pools[1]
    assert await pool.claim.run_once() > kit.app.settings.poll * 2
    pause = await worker.promote.run_once()
    assert pause == kit.app.settings.poll
    assert not pool.claim._wake.is_set()
    await kit.make_job("b")
    await kit.advance(pause)
    await worker.promote.run_once()
    assert pool.claim._wake.is_set()
