"""`expires` bounds a job from its creation, its waits and retries included."""

import asyncio
import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, Job, State
from hanbeon.config.file import load
from hanbeon.errors import InvalidInput, TaskDefinitionError
from hanbeon.surfaces.verify import verify
from hanbeon.tasks.task import settings_of
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call
from tests.service.raw_sql import run_sql

MESSAGE = "It expired before it had ended"


async def types_of(kit: TestKit, job: Job[Any]) -> list[str]:
    return [event.type for event in await kit.app.events_after() if event.job_id == job.id]


async def ended(job: Job[Any]) -> tuple[State, str | None, str | None]:
    record = await job.record()
    return record.state, record.failure_type, record.error_message


async def test_waiting_jobs_fail_when_they_expire(kit: TestKit) -> None:
    @kit.app.task(expires="1m")
    async def work() -> None: ...

    await kit.app.pause("paused")
    first = await kit.app.enqueue(work, expires=dt.timedelta(hours=1), delay=1800)
    paused = await kit.app.enqueue(work, queue="paused")
    delayed = await kit.app.enqueue(work, delay=3600)
    behind = await kit.app.enqueue(work, after=[first])
    failing = await kit.app.enqueue(work, after=[behind], on_dependency_failure="fail", expires=3600)
    await kit.advance(59)
    assert await paused.state() is State.READY
    await kit.advance(2)
    for job in (paused, delayed, behind):
        assert await ended(job) == (State.FAILED, "expired", MESSAGE)
    assert await failing.state() is State.FAILED
    assert (await failing.record()).failure_type == "dependency_failed"
    assert await types_of(kit, paused) == ["enqueued", "expired"]
    assert await types_of(kit, delayed) == ["scheduled", "expired"]
    assert await first.state() is State.PENDING
    assert (await kit.app.counts())[State.FAILED] == 4
    assert (await verify(kit.app.store)).findings == ()


async def test_running_job_is_stopped_when_it_expires(kit: TestKit) -> None:
    stopped: list[bool] = []

    @kit.app.task(expires=30, retries=5)
    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    job = await kit.app.enqueue(slow)
    await kit.start_ready()
    await kit.advance(29)
    assert await job.state() is State.RUNNING
    await kit.advance(2)
    await kit.settle()
    assert stopped == [True]
    assert await ended(job) == (State.FAILED, "expired", MESSAGE)
    (attempt,) = await job.attempts()
    assert (attempt.status, attempt.failure_type) == ("timeout", "expired")
    assert await types_of(kit, job) == ["enqueued", "claimed", "overdue", "failed"]
    assert "It expired" in (await kit.app.explain(job)).reasons[0].text
    assert (await verify(kit.app.store)).findings == ()


async def test_retries_end_when_the_job_expires(kit: TestKit) -> None:
    @kit.app.task(expires=100, retries=9, retry_delay=40, backoff="linear")
    async def broken() -> None:
        raise ConnectionError("down")

    job = await kit.app.enqueue(broken)
    for _ in range(6):
        await kit.start_ready()
        await kit.settle()
        await kit.advance(40)
    assert await ended(job) == (State.FAILED, "expired", MESSAGE)
    assert len(await job.attempts()) == 2
    assert await types_of(kit, job) == ["enqueued", "claimed", "retried", "promoted", "claimed", "retried", "expired"]


async def test_jobs_that_end_in_time_keep_their_result(kit: TestKit) -> None:
    @kit.app.task
    async def quick() -> int:
        return 3

    job = await kit.app.enqueue(quick, expires=dt.datetime.fromtimestamp(kit.clock.now_us() / 1e6 + 10, dt.UTC))
    await kit.run_all()
    await kit.advance(60)
    assert await job.result(1) == 3
    assert (await job.record()).expires_at == pytest.approx((await job.record()).created_at + 10_000_000, abs=1_000_000)


async def test_manual_retry_is_bounded_until_it_expired(kit: TestKit) -> None:
    @kit.app.task(expires=60, retries=0)
    async def broken() -> None:
        raise ConnectionError("down")

    early, late = await kit.app.enqueue(broken), await kit.app.enqueue(broken, delay=3600)
    await kit.tick()
    await kit.app.retry(early)
    assert (await early.record()).expires_at is not None
    await kit.app.pause("default")
    await kit.advance(61)
    assert [(await ended(job))[1] for job in (early, late)] == ["expired", "expired"]
    await kit.app.retry(late)
    assert (await late.record()).expires_at is None
    await kit.advance(7200)
    assert await late.state() is State.READY
    assert (await verify(kit.app.store)).findings == ()


async def test_cancel_before_the_expiry_wins(kit: TestKit) -> None:
    go = asyncio.Event()

    @kit.app.task(expires=30)
    async def slow() -> None:
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue

    job = await kit.app.enqueue(slow)
    await kit.start_ready()
    await kit.app.cancel(job)
    await kit.advance(60)
    go.set()
    await kit.settle()
    assert await job.state() is State.CANCELLED


async def test_lost_attempt_of_expired_job_is_not_retried(kit: TestKit) -> None:
    @kit.app.task(expires=30, retries=5)
    async def slow() -> None:
        await asyncio.Event().wait()

    job = await kit.make_job(slow.call(), state=State.RUNNING)
    await kit.advance(300)
    await kit.tick()
    assert await ended(job) == (State.FAILED, "expired", MESSAGE)


async def test_jobs_without_it_have_no_row(kit: TestKit) -> None:
    @kit.app.task
    async def work() -> None: ...

    await kit.app.enqueue_many([work.call() for _ in range(3)])
    await kit.app.enqueue_many([work.call().set(expires=60) for _ in range(40)])
    await kit.run_all()
    (found,) = await run_sql(kit.app.store, "SELECT count(*) AS n FROM hanbeon.expiry")
    assert found["n"] == 40
    await kit.advance(40 * 86_400)
    await kit.prune()
    (found,) = await run_sql(kit.app.store, "SELECT count(*) AS n FROM hanbeon.expiry")
    assert found["n"] == 0


@pytest.mark.parametrize(
    "value", [0, -1, dt.timedelta(0), True, "1h", float("nan"), dt.datetime(1960, 1, 1, tzinfo=dt.UTC)]
)
async def test_other_values_of_a_job_are_refused(app: App, value: Any) -> None:
    @app.task
    async def work() -> None: ...

    with pytest.raises(InvalidInput) as refused:
        await app.enqueue(work, expires=value)
    assert refused.value.field == "expires"


async def test_other_values_of_a_task_are_refused(app: App) -> None:
    async def work() -> None: ...

    with pytest.raises(TaskDefinitionError, match="expires: must be positive; omit it for a job that does not expire"):
        app.task(expires=0)(work)
    with pytest.raises(TaskDefinitionError, match="expires: must be a duration"):
        app.task(expires="soon")(work)


async def test_every_way_to_create_a_job_takes_it(
    app: App, app_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, the command line, the API, and executions by the settings of the task."""
    (tmp_path / "hanbeon.toml").write_text('[tasks.list]\ncommand = ["ls"]\nexpires = "90m"\n')
    monkeypatch.chdir(tmp_path)
    (task,) = load(tmp_path / "hanbeon.toml").tasks
    assert settings_of(task.options).expires_us == 5_400_000_000
    place = ("--database", app_url)

    async def seconds(*options: str) -> float:
        (job_id,) = (await call("enqueue", "list", *options, *place)).lines
        record = await app.job(job_id).record()
        assert record.expires_at is not None
        assert "expires_at" in (await call("job", job_id, "--database", app_url)).out
        return (record.expires_at - record.created_at) / 1e6

    assert await seconds() == 5_400
    assert await seconds("--expires", "1h30s") == 3_630
    (job_id,) = (await call("enqueue", "list", "--expires", "2100-01-01T00:00+00:00", *place)).lines
    assert (await app.job(job_id).record()).expires_at == 4_102_444_800_000_000
    app.tasks.add(task)
    job = await app.engine.enqueue(task="list", expires="2h")
    assert job.expires_at is not None
    assert dt.datetime.fromisoformat(job.expires_at) - dt.datetime.fromisoformat(job.created_at) == dt.timedelta(
        hours=2
    )
    assert (await app.engine.enqueue(task="list", expires="2100-01-01T00:00Z")).expires_at is not None
    with pytest.raises(InvalidInput, match="expires: must be"):
        await app.engine.enqueue(task="list", expires="soon")
