"""A worker as a whole: how it stops, what it leaves behind, and how quiet it is."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hanbeon import App, State, SyncContext
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.executors.executor import StopCause
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest
from hanbeon.testing import TestKit


async def test_stopping_lets_running_jobs_finish_within_the_grace(app_url: str) -> None:
    async with App(app_url, shutdown_grace=10) as app:
        started, go = asyncio.Event(), asyncio.Event()

        @app.task
        async def work() -> str:
            started.set()
            await go.wait()
            return "finished"

        worker = app.worker()
        await worker.start()
        job = await app.enqueue(work)
        await asyncio.wait_for(started.wait(), 10)
        stopping = asyncio.create_task(worker.stop())
        later = await app.enqueue(work)
        await asyncio.sleep(0)
        go.set()
        await asyncio.wait_for(stopping, 10)
        assert await job.result(20) == "finished"
        assert await later.state() is State.READY, "nothing is claimed any more"


async def test_stopping_hands_the_rest_back_at_once(app: App) -> None:
    started = asyncio.Event()
    cleaned: list[int] = []

    @app.task(retries=0)
    async def work(number: int) -> None:
        if number == 2:
            started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(number)

    async with app.worker():
        jobs = await app.enqueue_many(work.call(number) for number in range(3))
        await asyncio.wait_for(started.wait(), 10)
    assert sorted(cleaned) == [0, 1, 2]
    for job in jobs:
        record = await job.record()
        assert (record.state, record.retry_count, record.locked_by) == (State.READY, 0, None)
        assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.RELEASED]


async def test_a_claim_under_way_when_the_worker_stops_strands_nothing(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed, gate = asyncio.Event(), asyncio.Event()
    claim = app.store.claim

    async def slow_claim(request: ClaimRequest) -> ClaimAnswer:
        answer = await claim(request)
        if answer.jobs:
            claimed.set()
            await gate.wait()
        return answer

    monkeypatch.setattr(app.store, "claim", slow_claim)

    ran: list[int] = []

    @app.task(on_lost="fail")
    async def work() -> None:
        ran.append(1)

    worker = app.worker()
    await worker.start()
    job = await app.enqueue(work)
    await asyncio.wait_for(claimed.wait(), 10)
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0.05)
    assert not stopping.done()
    gate.set()
    await asyncio.wait_for(stopping, 10)
    assert ran == [], "what comes too late does not begin"
    assert await job.state() is State.READY
    assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.RELEASED]


async def test_stop_does_not_wait_for_a_thread_that_ignores_it(app_url: str) -> None:
    async with App(app_url, shutdown_grace=0, lease=3) as app:
        started, go = threading.Event(), threading.Event()

        @app.task(retries=0)
        def deaf(ctx: SyncContext) -> None:
            started.set()
            go.wait(30)

        try:
            async with asyncio.timeout(10):
                async with app.worker():
                    job = await app.enqueue(deaf)
                    assert await asyncio.to_thread(started.wait, 10)
            assert await job.state() is State.RUNNING, "until its lease has passed and somebody recovers it"
        finally:
            go.set()


async def test_stop_does_not_wait_for_an_unresponsive_database(app_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with App(app_url, lease=1.5, shutdown_grace=0) as app:

        @app.task
        async def work() -> None: ...

        asked = asyncio.Event()

        async def never(*_: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(app.store, "claim", never)
        for name in ("recover", "run_due"):
            monkeypatch.setattr(f"hanbeon.engine.maintenance.{name}", never)
        monkeypatch.setattr("hanbeon.engine.running_attempts.renew", never)
        async with asyncio.timeout(10):
            async with app.worker():
                await asked.wait()


async def test_a_second_signal_hands_back_without_waiting(app_url: str) -> None:
    async with App(app_url, shutdown_grace=600) as app:
        started = asyncio.Event()

        @app.task
        async def work() -> None:
            started.set()
            await asyncio.Event().wait()

        worker = app.worker()
        running = asyncio.create_task(worker.run())
        job = await app.enqueue(work)
        await asyncio.wait_for(started.wait(), 10)
        worker.stop_soon()
        await asyncio.sleep(0.05)
        assert not running.done(), "the first signal waits for the job"
        worker.stop_soon()
        await asyncio.wait_for(running, 10)
        assert await job.state() is State.READY


async def test_stopping_twice_is_stopping_once(app: App) -> None:
    worker = app.worker()
    await worker.start()
    await worker.stop()
    await worker.stop()
    assert [one.stopped_at is not None for one in await app.instances()] == [True]


async def test_stop_ends_a_loop_that_swallows_a_cancellation(sqlite_url: str) -> None:
    began, swallowed, goes_on = asyncio.Event(), asyncio.Event(), False

    async def step() -> float:
        nonlocal goes_on
        goes_on = goes_on or swallowed.is_set()
        began.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            if swallowed.is_set():
                raise
            swallowed.set()  # As a driver does whose answer comes in the same moment.
        return 0.0

    async with App(sqlite_url) as app:
        worker = app.worker()
        worker.prune.run_once = step
        async with worker:
            await began.wait()
        assert swallowed.is_set()
        assert goes_on
        assert not [task for task in asyncio.all_tasks() if "Loop.run" in repr(task)]


async def test_new_work_wakes_an_idle_worker(app_url: str) -> None:
    async with App(app_url, poll=600) as app, App(app_url) as client:

        @app.task(name="work")
        async def work() -> None: ...

        client.task(work.function)
        async with app.worker(), asyncio.timeout(120):
            await (await app.enqueue(work)).wait()
            await asyncio.sleep(0.1)  # It is idle now; nothing but a wake-up from another App ends that.
            await (await client.enqueue("work")).wait()
            await (await client.enqueue("work", delay=0.2)).wait()


async def test_events_of_a_stop_reach_the_body_before_its_lease(kit: TestKit) -> None:
    causes: list[Any] = []

    @kit.app.task
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            causes.extend(attempt.cause for attempt in kit.worker.attempts)

    await kit.app.enqueue(work)
    await kit.start_ready()
    await kit.clock.advance(kit.app.settings.lease * 0.95)
    await kit.worker.guard.run_once()
    await kit.settle()
    assert causes == [StopCause.LEASE_LOST]


async def test_a_live_worker_folds_what_it_did(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    @app.task
    async def work() -> None: ...

    folded: asyncio.Queue[int] = asyncio.Queue()
    fold = app.store.fold

    async def watched(*args: int) -> int:
        batches = await fold(*args)
        folded.put_nowait(batches)
        return batches

    monkeypatch.setattr(app.store, "fold", watched)
    async with app.worker():
        await (await app.enqueue(work)).wait(20)
        async with asyncio.timeout(20):
            total = 0
            while total < 3:  # Its creation, its claim and its end.
                total += await folded.get()
    counts = await app.counts()
    assert counts[State.SUCCEEDED] == 1
    assert await app.store.read(lambda tx: tx.fetch("unfolded")) == []


class Counter:
    """Counts the transactions of an App's database."""

    def __init__(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for name in ("transact", "read"):
            monkeypatch.setattr(app.store.database, name, self._counted(getattr(app.store.database, name)))

    def _counted(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any) -> Any:
            self.count += 1
            return await method(*args)

        return counted


async def test_an_idle_worker_asks_about_once_a_second(kit: TestKit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each loop says how long it rests; together they must rest enough. No clock needs to run for that."""

    @kit.app.task
    async def work() -> None: ...

    await kit.run_all()
    counter = Counter(kit.app, monkeypatch)
    rate = 0.0
    for loop in kit.worker._loops():
        if loop.name != "complete":  # It waits for results, and asks nothing before there is one.
            counter.count = 0
            rest = await loop.run_once()
            assert rest > 0, f"{loop.name} does not rest"
            rate += counter.count / rest
    assert rate <= 1.0


async def test_an_idle_worker_does_not_wake_itself(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    @app.task
    async def work() -> None: ...

    async with App(app.settings.database_url) as quiet:
        quiet.task(work.function)
        async with quiet.worker():
            await (await quiet.enqueue("work")).wait(20)
            await asyncio.sleep(0.5)  # What the job stirred up has settled.
            counter, began = Counter(quiet, monkeypatch), time.monotonic()
            await asyncio.sleep(2.5)
            assert counter.count <= 3 + 2 * (time.monotonic() - began), "one that wakes itself asks hundreds of times"


async def test_stop_leaves_no_task_of_an_unacknowledged_result(app_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with App(app_url, lease=1.5, shutdown_grace=0) as app:
        asked = asyncio.Event()

        async def never(*_: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

        @app.task
        async def work() -> None: ...

        monkeypatch.setattr(app.store, "succeed", never)
        worker = app.worker()
        await worker.start()
        await app.enqueue(work)
        async with asyncio.timeout(10):
            await asked.wait()
        monkeypatch.setattr("hanbeon.engine.worker.hand_back", _at_once)  # As if its time were over.
        async with asyncio.timeout(10):
            await worker.stop()
        await asyncio.sleep(0)
        left = [task for task in asyncio.all_tasks() if task.get_name().startswith(("end-", "hanbeon-"))]
        assert left == []
        assert len(worker.attempts) == 0


async def _at_once(*_: Any) -> None:
    return
