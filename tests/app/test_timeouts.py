"""A timeout counts from the body's start and really stops the work; a slot is free when the work has stopped."""

import asyncio
import threading

import pytest

from hanbeon import App, Context, State, SyncContext
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.testing import TestKit


async def test_a_body_that_takes_too_long_is_cancelled_and_tried_again(kit: TestKit) -> None:
    ended: list[str] = []

    @kit.app.task(timeout=30, retries=1, retry_delay=10)
    async def slow(ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(f"attempt {ctx.attempt}, stopping: {ctx.stopping}")

    job = await kit.app.enqueue(slow)
    for _ in range(2):
        assert len(await kit.start_ready()) == 1
        await kit.advance(30)
        await kit.advance(10)
    assert await kit.start_ready() == []
    assert ended == ["attempt 1, stopping: True", "attempt 2, stopping: True"]
    record = await job.record()
    assert (record.state, record.failure_type) == (State.FAILED, "timeout")
    attempts = await job.attempts()
    assert [(attempt.status, attempt.message) for attempt in attempts] == [
        (AttemptStatus.TIMEOUT, "Job execution timed out")
    ] * 2
    types = [event.type for event in await kit.app.events_after() if event.job_id == job.id]
    assert types == ["enqueued", "claimed", "overdue", "retried", "promoted", "claimed", "overdue", "failed"]


async def test_the_jobs_own_timeout_wins(kit: TestKit) -> None:
    @kit.app.task(timeout=3600, retries=0)
    async def slow() -> None:
        await asyncio.Event().wait()

    job = await kit.app.enqueue(slow, timeout=2)
    await kit.start_ready()
    assert (await job.record()).deadline_at == kit.clock.now_us() + 2_000_000
    await kit.advance(2)
    assert await job.state() is State.FAILED


async def test_body_that_swallows_cancellation_keeps_its_slot(kit_url: str) -> None:
    async with TestKit(App(), kit_url, concurrency=1) as kit:
        go = asyncio.Event()

        @kit.app.task(timeout=5, retries=0)
        async def stubborn() -> str:
            while not go.is_set():
                try:
                    await go.wait()
                except asyncio.CancelledError:
                    continue
            return "too late"

        job, behind = await kit.app.enqueue_many([stubborn.call(), stubborn.call()])
        await kit.start_ready()
        await kit.advance(kit.app.settings.lease * 3)
        assert await job.state() is State.RUNNING, "it runs on, and so does its lease"
        assert await kit.start_ready() == [], "its slot is not free"
        assert await behind.state() is State.READY
        go.set()
        await kit.settle()
        record = await job.record()
        assert (record.state, record.failure_type, record.result) == (State.FAILED, "timeout", None)
        assert await kit.tick() == 1


async def test_a_body_that_ended_in_time_has_not_timed_out(kit: TestKit) -> None:
    """Its result is on its way to a slow database when the deadline passes."""
    go = asyncio.Event()

    @kit.app.task(timeout=5, retries=0)
    async def work() -> str:
        await go.wait()
        return "in time"

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    go.set()
    for _ in range(10):
        await asyncio.sleep(0)
    await kit.clock.advance(6)
    await kit.settle()
    assert await job.result(20) == "in time"
    assert "overdue" not in [event.type for event in await kit.app.events_after()]


async def test_timed_out_thread_is_signalled_and_runs_on(kit: TestKit) -> None:
    began, go = threading.Event(), threading.Event()
    seen: list[bool] = []

    @kit.app.task(timeout=5, retries=0, executor="thread")
    def work(ctx: SyncContext) -> str:
        seen.append(ctx.stopping)
        began.set()
        go.wait(20)
        seen.append(ctx.stopping)
        return "too late"

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    assert await asyncio.to_thread(began.wait, 10)
    await kit.advance(6)
    assert await job.state() is State.RUNNING, "a thread cannot be stopped"
    go.set()
    await kit.settle()
    assert seen == [False, True]
    assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.TIMEOUT]


async def test_cancelled_thread_is_signalled(kit: TestKit) -> None:
    began = threading.Event()

    @kit.app.task(retries=0)
    def work(ctx: SyncContext) -> None:
        began.set()
        while not ctx.stopping:
            threading.Event().wait(0.005)

    job = await kit.app.enqueue(work)
    await kit.start_ready()
    assert await asyncio.to_thread(began.wait, 10)
    await job.cancel()
    await kit.settle()
    assert await job.state() is State.CANCELLED


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_deadlines_strike_on_a_live_worker(app: App, kind: str) -> None:
    @app.task(name="async", timeout=0.2, retries=0)
    async def body() -> None:
        await asyncio.Event().wait()

    @app.task(name="thread", timeout=0.2, retries=0, executor="thread")
    def threaded(ctx: SyncContext) -> None:
        while not ctx.stopping:
            threading.Event().wait(0.005)

    async with app.worker():
        job = await app.enqueue(kind)
        record = await job.wait(20)
    assert (record.state, record.error_message) == (State.FAILED, "Job execution timed out")


async def test_deadline_passed_during_downtime_is_a_timeout(kit: TestKit) -> None:
    @kit.app.task(timeout=40, retries=0)
    async def work() -> None: ...

    due = await kit.make_job(work, state="running")
    lost = await kit.make_job(work, state="running", timeout=3600)
    await kit.clock.advance(60)
    await kit.tick()
    statuses = [[attempt.status for attempt in await job.attempts()] for job in (due, lost)]
    assert statuses == [[AttemptStatus.TIMEOUT], [AttemptStatus.LOST, AttemptStatus.COMPLETED]]
