"""Operations on jobs and queues: cancel, retry, reprioritise, pause, limit."""

import asyncio
import time

import pytest

from hanbeon import App, Job, State, Task
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.errors import JobNotFound, NotFound, WrongState
from hanbeon.testing import TestKit


def work(kit: TestKit) -> Task[[], None]:
    @kit.app.task
    async def work() -> None: ...

    return work


async def states(*jobs: Job[object]) -> list[State]:
    return [await job.state() for job in jobs]


async def test_cancel_ends_a_waiting_job_at_once(kit: TestKit) -> None:
    task = work(kit)
    ready, pending = await kit.app.enqueue(task), await kit.app.enqueue(task, delay=60)
    assert await kit.app.cancel(ready) is State.CANCELLED
    assert await pending.cancel() is State.CANCELLED
    assert await kit.app.cancel(ready.id) is State.CANCELLED, "cancelled before is fine"
    assert await kit.run_all() == 0


async def test_start_ready_begins_bodies_that_take_turns(kit: TestKit) -> None:
    """Bodies that block make way for others on the loop after a while; the rest of them begin, too."""
    begun: list[int] = []

    @kit.app.task
    async def blocks(x: int) -> None:
        begun.append(x)
        time.sleep(0.02)  # noqa: ASYNC251 - to block is the point

    await kit.app.enqueue_many([blocks.call(x) for x in range(3)])
    await kit.start_ready()
    assert begun == [0, 1, 2]
    await kit.settle()


async def test_cancel_ends_a_running_job_once_it_has_stopped(kit: TestKit) -> None:
    stopped = asyncio.Event()
    may_end = asyncio.Event()

    @kit.app.task
    async def slow() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            await may_end.wait()
        return "a later result is ignored"

    job = await kit.app.enqueue(slow)
    await kit.start_ready()
    assert await job.cancel() is State.RUNNING
    await kit.worker.watch.run_once()
    await asyncio.wait_for(stopped.wait(), 5)
    record = await job.record()
    assert (record.state, record.stop_requested_at) == (State.RUNNING, kit.clock.now_us())
    may_end.set()
    await kit.settle()
    record = await job.record()
    assert (record.state, record.result) == (State.CANCELLED, None)
    assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.CANCELLED]


async def test_a_stop_reaches_a_live_worker_although_it_polls_seldom(app_url: str) -> None:
    app = App(app_url, poll=600, lease=600)
    started = asyncio.Event()

    @app.task
    async def slow() -> None:
        started.set()
        await asyncio.Event().wait()

    async with app, app.worker():
        job = await app.enqueue(slow)
        await asyncio.wait_for(started.wait(), 30)
        async with asyncio.timeout(30):
            await job.cancel()
            assert (await job.wait()).state is State.CANCELLED


@pytest.mark.parametrize("state", ["succeeded", "failed"])
async def test_cancel_rejects_finished_jobs(kit: TestKit, state: str) -> None:
    job = await kit.make_job(state=state)
    with pytest.raises(WrongState, match=f"is {state}; only pending or ready or running jobs can be cancelled"):
        await kit.app.cancel(job)


async def test_cancel_where_takes_what_matches_and_nothing_else(kit: TestKit) -> None:
    task = work(kit)
    mine = await kit.app.enqueue(task, queue="a", role="FE", work_item="w")
    others = [
        await kit.app.enqueue(task, queue="b", role="FE", work_item="w"),
        await kit.app.enqueue(task, queue="a", role="BE", work_item="w"),
        await kit.app.enqueue(task, queue="a", role="FE", work_item="v"),
        await kit.make_job("other", queue="a", role="FE", work_item="w"),
        await kit.app.enqueue(task, queue="a", role="FE", work_item="w", delay=60),
    ]
    done = await kit.make_job(task, state="succeeded", queue="a", role="FE", work_item="w")
    accepted = await kit.app.cancel_where(queue="a", task="work", role="FE", work_item="w", states=["ready"])
    assert accepted == [mine.id]
    assert await states(*others) == [State.READY] * 4 + [State.PENDING]
    everything = await kit.app.cancel_where()
    assert sorted(everything) == sorted(job.id for job in others)
    assert await done.state() is State.SUCCEEDED
    assert await kit.app.cancel_where() == []


async def test_cancel_where_asks_running_jobs_to_stop(kit: TestKit) -> None:
    running = await kit.make_job(state="running")
    assert await kit.app.cancel_where(states=["running"]) == [running.id]
    assert (await running.record()).stop_requested_at is not None


async def test_retry_gives_a_job_all_its_retries_again(kit: TestKit) -> None:
    tries: list[int] = []

    @kit.app.task(retries=1, retry_delay=1)
    async def fail() -> None:
        tries.append(1)
        raise ValueError("no")

    job = await kit.app.enqueue(fail)
    await kit.run_all()
    assert (len(tries), await job.state()) == (2, State.FAILED)
    assert await kit.app.retry(job) is State.READY
    record = await job.record()
    assert (record.retry_count, record.failure_type, record.finished_at) == (0, None, None)
    await kit.run_all()
    assert len(tries) == 4
    assert [attempt.attempt for attempt in await job.attempts()] == [1, 2, 3, 4]


async def test_retry_takes_cancelled_jobs_and_no_others(kit: TestKit) -> None:
    task = work(kit)
    cancelled = await kit.make_job(task, state="cancelled")
    assert await kit.app.retry(cancelled.id) is State.READY
    await kit.run_all()
    assert await cancelled.state() is State.SUCCEEDED
    with pytest.raises(WrongState, match="is succeeded; only failed or cancelled jobs can be retried"):
        await kit.app.retry(cancelled)
    with pytest.raises(WrongState, match="is ready"):
        await kit.app.retry(await kit.app.enqueue(task))


async def test_reprioritise_moves_a_job_in_its_queue(kit_url: str) -> None:
    async with TestKit(App(), kit_url, concurrency=1) as kit:
        ran: list[str] = []

        @kit.app.task
        async def note(word: str) -> None:
            ran.append(word)

        _a, b, c = await kit.app.enqueue_many(note.call(word) for word in "abc")
        await kit.app.reprioritise(b, priority=-1)
        await kit.app.reprioritise(c.id, urgent=True)
        await kit.run_all()
        assert ran == ["c", "b", "a"]
        with pytest.raises(WrongState, match="can be reprioritised"):
            await kit.app.reprioritise(c, priority=0)


async def test_a_paused_queue_starts_nothing_and_the_others_go_on(kit: TestKit) -> None:
    task = work(kit)
    await kit.app.pause("mail")
    held, free = await kit.app.enqueue(task, queue="mail"), await kit.app.enqueue(task)
    assert await kit.run_all() == 1
    assert await states(held, free) == [State.READY, State.SUCCEEDED]
    assert {queue.name: queue.paused for queue in await kit.app.queues()} == {"mail": True, "default": False}
    assert not (await kit.app.resume("mail")).paused
    assert await kit.run_all() == 1


async def test_limits_hold_and_change_at_the_next_claim(kit: TestKit) -> None:
    go = asyncio.Event()

    @kit.app.task(queue="office")
    async def wait() -> None:
        await go.wait()

    changed = await kit.app.configure_queue("office", max_concurrent=3, roles={"FE": 1, "BE": 2})
    assert (changed.limits.max_concurrent, changed.limits.roles) == (3, {"FE": 1, "BE": 2})
    await kit.app.enqueue_many(wait.call().set(role=role) for role in ["FE", "FE", "BE", "BE", "BE", "QA", "QA"])

    async def running() -> list[str]:
        return sorted(record.role for record in await kit.app.jobs(states=["running"]))

    await kit.start_ready()
    assert await running() == ["BE", "BE", "FE"]
    await kit.app.configure_queue("office", max_concurrent=0)
    await kit.start_ready()
    assert await running() == ["BE", "BE", "FE", "QA", "QA"], "the limits of roles were not touched"
    await kit.app.configure_queue("office", max_concurrent=1)
    await kit.start_ready()
    assert len(await running()) == 5, "lowering a limit stops nothing that runs"
    go.set()
    await kit.settle()
    await kit.start_ready()
    assert len(await running()) <= 1
    await kit.settle()


async def test_limits_per_key(kit: TestKit) -> None:
    go = asyncio.Event()

    @kit.app.task
    async def wait() -> None:
        await go.wait()

    await kit.app.configure_queue("default", max_per_key=1, keys={"big": 2})
    keys = ["a", "a", "b", "big", "big", "big", "", ""]
    await kit.app.enqueue_many(wait.call().set(concurrency_key=key) for key in keys)
    await kit.start_ready()
    running = sorted(record.concurrency_key for record in await kit.app.jobs(states=["running"]))
    assert running == ["", "", "a", "b", "big", "big"]
    go.set()
    await kit.settle()


async def test_unknown_jobs_and_queues_are_not_found(kit: TestKit) -> None:
    missing = "01a1e189-eda6-7180-9760-4c3eca0ab9b8"
    job = kit.app.job(missing)
    for use in (
        kit.app.cancel(missing),
        kit.app.retry(missing),
        kit.app.reprioritise(missing, urgent=True),
        job.state(),
        job.result(20),
        job.attempts(),
        job.blocked_by(),
    ):
        with pytest.raises(JobNotFound, match=missing):
            await use
    for count in (kit.app.counts("nowhere"), kit.app.cancel_where(queue="nowhere")):
        with pytest.raises(NotFound, match="there is no queue 'nowhere'"):
            await count
