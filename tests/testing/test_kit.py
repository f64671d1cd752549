"""The test kit as its users have it: on the SQLite file that it makes itself, and on either store by URL."""

import asyncio
import datetime as dt

import pytest

from hanbeon import App, Context, Job, State
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.errors import AppNotOpen, InvalidInput, JobFailed
from hanbeon.store.operations.promote import next_due_us
from hanbeon.testing import TestKit, VirtualClock


async def test_runs_everything_at_once_however_long_it_would_take() -> None:
    app = App("postgresql://production.example/jobs", lease=60)

    @app.task(retries=2, retry_delay=3600)
    async def flaky(ctx: Context) -> int:
        if ctx.attempt < 3:
            raise ValueError("not yet")
        return ctx.attempt

    async with TestKit(app) as kit:
        before = kit.clock.now_us()
        job = await app.enqueue(flaky, delay=dt.timedelta(days=1))
        assert await kit.run_all() == 3
        assert await job.result(20) == 3
        passed = (kit.clock.now_us() - before) / 1_000_000
        assert passed == pytest.approx(86_400 + 3600 + 3600)
    assert app.settings.database_url == "postgresql://production.example/jobs"
    with pytest.raises(AppNotOpen):
        await app.enqueue(flaky)
    with pytest.raises(AppNotOpen, match="async with TestKit"):
        await kit.tick()


async def test_each_kit_starts_empty_and_at_the_time_it_was_given() -> None:
    app = App(timezone="Asia/Seoul")

    @app.task
    async def stamp() -> None: ...

    for _ in range(2):
        async with TestKit(app, start=dt.datetime(2026, 11, 15, 9, 0)) as kit:
            job = await app.enqueue(stamp)
            assert sum((await app.counts()).values()) == 1
            created = dt.datetime.fromtimestamp((await job.record()).created_at / 1e6, dt.UTC)
            assert created == dt.datetime(2026, 11, 15, 0, 0, tzinfo=dt.UTC)
            assert isinstance(kit.clock, VirtualClock)


async def test_an_open_app_is_not_taken_over(app: App) -> None:
    with pytest.raises(InvalidInput, match="app: must not be open; pass it to the kit closed"):
        await TestKit(app).__aenter__()
    assert app.is_open


async def test_a_database_in_use_by_a_real_clock_is_refused(postgres_url: str) -> None:
    app = App(postgres_url)

    @app.task
    async def work() -> None: ...

    await app.migrate()
    async with app:
        await app.enqueue(work)
        now = await app.store.read(next_due_us)
    with pytest.raises(InvalidInput, match=r"url: .* give it a database of its own"):
        await TestKit(app, postgres_url).__aenter__()
    assert not app.is_open
    assert now is None
    async with app:  # Its clock still goes.
        assert abs((await app.jobs())[0].created_at - app.clock.now_us()) < 60_000_000


async def test_a_tick_runs_what_is_due_and_no_more(kit: TestKit) -> None:
    @kit.app.task
    async def work() -> None: ...

    now, later = await kit.app.enqueue(work), await kit.app.enqueue(work, delay=10)
    assert await kit.tick() == 1
    assert (await now.state(), await later.state()) == (State.SUCCEEDED, State.PENDING)
    assert await kit.tick() == 0
    await kit.advance(10)
    assert await later.state() is State.PENDING
    assert await kit.tick() == 1
    assert await later.state() is State.SUCCEEDED


async def test_a_tick_takes_no_more_than_the_worker_has_room_for(kit_url: str) -> None:
    async with TestKit(App(), kit_url, concurrency=2) as kit:

        @kit.app.task
        async def work() -> None: ...

        await kit.app.enqueue_many(work.call() for _ in range(5))
        assert [await kit.tick() for _ in range(4)] == [2, 2, 1, 0]


async def test_run_all_leaves_what_cannot_run(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def fail() -> None:
        raise ValueError("no")

    @kit.app.task
    async def work() -> None: ...

    first = await kit.app.enqueue(fail)
    blocked = await kit.app.enqueue(work, after=[first])
    foreign = await kit.make_job("elsewhere")
    await kit.app.pause("closed")
    paused = await kit.app.enqueue(work, queue="closed")
    assert await kit.run_all() == 1
    assert [await job.state() for job in (first, blocked, foreign, paused)] == [
        State.FAILED,
        State.PENDING,
        State.READY,
        State.READY,
    ]


async def test_run_all_gives_up_on_a_task_that_never_ends(kit: TestKit) -> None:
    @kit.app.task
    async def again(ctx: Context) -> None:
        ctx.retry_in(60)

    await kit.app.enqueue(again)
    with pytest.raises(
        AssertionError, match="6 runs are over the limit of 5, and there is more: 1 pending; a task that"
    ):
        await kit.run_all(limit=5)


async def test_bodies_that_wait_can_be_watched_and_timed_out(kit: TestKit) -> None:
    go = asyncio.Event()

    @kit.app.task(timeout=60, retries=0)
    async def wait() -> str:
        await go.wait()
        return "done"

    first = await kit.app.enqueue(wait)
    started = await kit.start_ready()
    assert [job.id for job in started] == [first.id]
    await kit.advance(59)
    assert await first.state() is State.RUNNING
    go.set()
    await kit.settle()
    assert await first.result(20) == "done"

    go.clear()
    second = await kit.app.enqueue(wait)
    await kit.start_ready()
    struck = kit.clock.now_us() + 60_000_000
    await kit.advance(3600)
    (attempt,) = await second.attempts()
    assert (attempt.status, attempt.message) == (AttemptStatus.TIMEOUT, "Job execution timed out")
    assert attempt.ended_at == struck, "it ends when its time is up, not when the test looks"


async def test_time_passes_for_running_work_as_in_life(kit: TestKit) -> None:
    go = asyncio.Event()

    @kit.app.task(retries=0)
    async def wait() -> None:
        await go.wait()

    job = await kit.app.enqueue(wait)
    await kit.start_ready()
    await kit.advance(kit.app.settings.lease * 10)
    go.set()
    await kit.settle()
    assert await job.state() is State.SUCCEEDED, "its lease was renewed all the while"


async def test_a_stuck_instance_loses_its_work(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def wait(ctx: Context) -> None:
        if ctx.attempt == 1:
            await asyncio.Event().wait()

    job = await kit.app.enqueue(wait)
    await kit.start_ready()
    await kit.clock.advance(kit.app.settings.lease)
    await kit.tick()
    assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.LOST, AttemptStatus.COMPLETED]


async def test_settle_names_what_does_not_end(kit_url: str) -> None:
    async with TestKit(App(), kit_url, limit=0.2) as kit:

        @kit.app.task
        async def sleepy() -> None:
            await asyncio.Event().wait()

        job = await kit.app.enqueue(sleepy)
        await kit.start_ready()
        with pytest.raises(
            AssertionError, match=f"still running after 0.2 real seconds: sleepy \\({job.id}\\); set what"
        ):
            await kit.settle()
        kit._limit = 30.0
        await job.cancel()
        await kit.settle()
        assert await job.state() is State.CANCELLED


async def test_leaving_the_kit_hands_back_what_runs(kit_url: str) -> None:
    app = App()
    cleaned = asyncio.Event()

    @app.task
    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    async with TestKit(app, kit_url) as kit:
        job = await app.enqueue(wait)
        await kit.start_ready()
    assert cleaned.is_set()
    async with TestKit(app, kit_url) as kit:
        assert await kit.app.job(job.id).state() is State.READY
        assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.RELEASED]


async def test_prunes_only_when_told(kit: TestKit) -> None:
    old = await kit.make_job(state="succeeded")
    await kit.advance(kit.app.settings.retention + 1)
    await kit.tick()
    assert await old.state() is State.SUCCEEDED
    assert await kit.prune() > 0
    assert await kit.app.jobs() == []


@pytest.mark.parametrize("state", list(State))
async def test_makes_jobs_in_any_state(kit: TestKit, state: State) -> None:
    job = await kit.make_job(state=state.value, result={"n": 1}, progress=40, message="broken", role="FE", queue="q")
    record = await job.record()
    assert (record.state, record.task, record.role, record.queue) == (state, "example", "FE", "q")
    assert (record.started_at is not None) == (state in (State.RUNNING, State.SUCCEEDED, State.FAILED))
    assert (record.finished_at is not None) == (state in (State.SUCCEEDED, State.FAILED, State.CANCELLED))
    assert (record.locked_until is not None) == (state is State.RUNNING)
    assert record.result == ('{"n":1}' if state is State.SUCCEEDED else None)
    assert record.error_message == ("broken" if state is State.FAILED else None)
    assert len(await job.attempts()) == (state in (State.SUCCEEDED, State.FAILED))


async def test_a_made_job_is_like_any_other(kit: TestKit) -> None:
    @kit.app.task
    async def add(a: int, b: int) -> int:
        return a + b

    failed = await kit.make_job(add.call(1, 2), state="failed", failure_type="session_error", message="gone")
    with pytest.raises(JobFailed, match=r"session_error.*gone"):
        await failed.result(20)
    await kit.app.retry(failed)
    assert await kit.run_all() == 1
    assert await failed.result(20) == 3

    pending = await kit.make_job("add", {"a": 2, "b": 2}, state="pending")
    assert await kit.run_all() == 1
    assert await pending.result(20) == 4


async def test_make_job_running_is_recovered_after_its_lease(kit: TestKit) -> None:
    @kit.app.task(retry_delay=5)
    async def work() -> str:
        return "mine now"

    await kit.app.enqueue(work)
    job: Job[str] = await kit.make_job(work, state="running")
    assert await kit.run_all() == 2
    assert await job.result(20) == "mine now"
    assert [attempt.status for attempt in await job.attempts()] == [AttemptStatus.LOST, AttemptStatus.COMPLETED]


async def test_a_state_that_contradicts_the_options_is_told(kit: TestKit) -> None:
    with pytest.raises(AssertionError, match="cannot run; leave out what it waits for"):
        await kit.make_job(state="running", delay=60)
    with pytest.raises(AssertionError, match="is pending, it cannot be ready; leave out"):
        await kit.make_job(state="ready", delay=60)
