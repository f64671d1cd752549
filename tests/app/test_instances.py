"""Several workers: they register, share the work, and leave unknown tasks alone."""

import asyncio
import os
import socket
from importlib.metadata import version

import pytest

from hanbeon import App, State
from hanbeon.testing import TestKit


async def test_an_instance_shows_itself_and_leaves(app: App) -> None:
    @app.task
    async def work() -> None: ...

    worker = app.worker(name="one", concurrency=7)
    async with worker:
        (one,) = await app.instances()
        assert (one.id, one.name, one.host, one.pid) == (worker.instance, "one", socket.gethostname(), os.getpid())
        assert (one.version, one.tasks, one.capacity, one.alive) == (version("hanbeon"), ["work"], 7, True)
        assert one.stopped_at is None
    (one,) = await app.instances()
    assert one.stopped_at is not None
    assert not one.alive


async def test_an_instance_that_is_silent_is_not_alive(kit: TestKit) -> None:
    await kit.tick()
    assert [one.alive for one in await kit.app.instances()] == [True]
    await kit.advance(kit.app.settings.lease + 1)
    assert [one.alive for one in await kit.app.instances()] == [False]
    await kit.tick()
    assert [one.alive for one in await kit.app.instances()] == [True]


async def test_an_instance_whose_row_was_pruned_registers_again(kit: TestKit) -> None:
    await kit.tick()
    first = kit.worker.instance
    await kit.advance(kit.app.settings.retention + 1)
    await kit.prune()
    await kit.tick()
    assert kit.worker.instance != first
    assert [one.id for one in await kit.app.instances()] == [kit.worker.instance]


async def test_foreign_jobs_are_left_alone_and_cost_nothing(kit: TestKit) -> None:
    @kit.app.task
    async def known() -> None: ...

    foreign = [await kit.make_job("unknown", urgent=True) for _ in range(3)]
    job = await kit.app.enqueue(known)
    assert await kit.run_all() == 1
    assert await job.state() is State.SUCCEEDED
    assert [await each.state() for each in foreign] == [State.READY] * 3
    assert (await foreign[0].record()).fence == 0


async def test_a_rolling_deploy_strands_nothing(app_url: str) -> None:
    """The old release knows `old` and `both`, the new one `both` and `new`; each job runs where it can."""
    ran: dict[str, set[str]] = {"old": set(), "new": set()}

    def release(name: str, *tasks: str) -> App:
        app = App(app_url, shutdown_grace=1)
        for task in tasks:

            @app.task(name=task)
            async def run(number: int) -> str:
                return name

        return app

    async with release("old", "old", "both") as old, release("new", "both", "new") as new:
        async with old.worker(concurrency=2), new.worker(concurrency=2):
            jobs = [await old.enqueue("old", {"number": n}) for n in range(5)]
            jobs += [await new.enqueue("new", {"number": n}) for n in range(5)]
            jobs += [await new.enqueue("both", {"number": n}) for n in range(10)]
            async with asyncio.timeout(30):
                for job in jobs:
                    ran[await job.result()].add((await job.record()).task)
        assert ran["old"] <= {"old", "both"}
        assert ran["new"] <= {"new", "both"}
        assert {*ran["old"], *ran["new"]} == {"old", "both", "new"}
        late = await old.enqueue("old", {"number": 99})
        async with new.worker():
            other = await new.enqueue("both", {"number": 99})
            assert await other.result(20) == "new"
            assert await late.state() is State.READY, "it waits for a worker that knows it"
        async with old.worker():
            assert await late.result(20) == "old"


async def test_two_workers_share_one_queue_and_run_each_job_once(app: App) -> None:
    ran: list[int] = []

    @app.task
    async def work(number: int) -> None:
        ran.append(number)

    async with app.worker(concurrency=3), app.worker(concurrency=3):
        jobs = await app.enqueue_many(work.call(number) for number in range(40))
        async with asyncio.timeout(30):
            for job in jobs:
                await job.result()
    assert sorted(ran) == list(range(40))
    assert all(record.fence == 1 for record in await app.jobs())


async def test_worker_warns_of_a_clock_that_jumped(kit: TestKit, caplog: pytest.LogCaptureFixture) -> None:
    job = await kit.make_job(state="succeeded")
    for _ in range(2):
        await kit.worker.prune.run_once()
        await kit.clock.step(365 * 86_400)
    await kit.worker.prune.run_once()
    assert await job.state() is State.SUCCEEDED
    assert caplog.text.count("clock_jumped") == 1, "once, however often it is seen"
