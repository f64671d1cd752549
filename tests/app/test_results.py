"""Waiting for a job: its typed result, its failure, or a timeout."""

import asyncio
import dataclasses
import datetime as dt
import itertools
import logging
from typing import Any

import pytest

from hanbeon import App, Context, PermanentError, State, TaskError
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.errors import InvalidInput, JobCancelled, JobFailed, ResultNotKept, TaskDefinitionError, WaitTimeout
from hanbeon.testing import TestKit
from tests.executors import bodies


@dataclasses.dataclass
class Receipt:
    number: int
    at: dt.datetime


async def test_a_result_has_the_type_that_the_task_declares(kit: TestKit) -> None:
    at = dt.datetime(2026, 11, 15, tzinfo=dt.UTC)

    @kit.app.task
    async def buy() -> Receipt:
        return Receipt(7, at)

    @kit.app.task
    async def untyped():  # type: ignore[no-untyped-def]
        return {"at": at, "set": {1}}

    @kit.app.task
    async def mistyped() -> int:
        return "not a number"  # type: ignore[return-value]

    jobs = [await kit.app.enqueue(task) for task in (buy, untyped, mistyped)]
    await kit.run_all()
    assert await jobs[0].result(20) == Receipt(7, at)
    assert await jobs[1].result(20) == {"at": "2026-11-15T00:00:00Z", "set": [1]}
    assert await jobs[2].result(20) == "not a number", "what was returned is not lost over a wrong annotation"
    assert await kit.app.job(jobs[0].id).result(20) == {"number": 7, "at": "2026-11-15T00:00:00Z"}


async def test_a_failure_is_raised_with_its_type_and_message(kit: TestKit) -> None:
    @kit.app.task(retries=1, retry_delay=1)
    async def fail() -> None:
        raise ValueError("out of paper")

    job = await kit.app.enqueue(fail)
    await kit.run_all()
    with pytest.raises(JobFailed, match=r"failed \(error\): ValueError: out of paper") as failure:
        await job.result(20)
    assert (failure.value.job_id, failure.value.failure_type) == (job.id, "error")
    assert (await job.wait(1)).state is State.FAILED, "waiting alone does not raise"


async def test_a_cancelled_job_has_no_result(kit: TestKit) -> None:
    job = await kit.make_job(state="cancelled")
    with pytest.raises(JobCancelled, match=job.id):
        await job.result(20)


async def test_waiting_ends_and_the_job_goes_on(kit: TestKit) -> None:
    @kit.app.task
    async def work() -> str:
        return "done"

    job = await kit.app.enqueue(work)
    with pytest.raises(WaitTimeout, match=f"job {job.id} has not finished within 0.05 s; it continues"):
        await job.result(0.05)
    await kit.run_all()
    assert await job.result(20) == "done"


async def test_a_waiter_is_woken_by_the_end_itself(app: App) -> None:
    go = asyncio.Event()

    @app.task
    async def work() -> str:
        await go.wait()
        return "done"

    async with app.worker():
        job = await app.enqueue(work)
        waiting = asyncio.create_task(job.result(20))
        await asyncio.sleep(0)
        go.set()
        assert await waiting == "done"


@pytest.mark.parametrize(
    ("error", "failure_type", "attempts"),
    [
        (ValueError("x"), "error", 3),
        (TaskError("x"), "error", 3),
        (TaskError("x", failure_type="session_error"), "session_error", 3),
        (TaskError("x", failure_type="of my own"), "of my own", 3),
        (TaskError("x", failure_type="git_conflict"), "git_conflict", 1),
        (TaskError("x", failure_type="permission_error"), "permission_error", 1),
        (PermissionError("x"), "permission_error", 1),
        (PermanentError("x"), "error", 1),
        (PermanentError("x", failure_type="session_error"), "session_error", 1),
        (SystemExit(3), "error", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_which_failures_are_tried_again(
    kit: TestKit, error: BaseException, failure_type: str, attempts: int
) -> None:
    @kit.app.task(retries=2, retry_delay=1)
    async def fail() -> None:
        raise error

    job = await kit.app.enqueue(fail)
    assert await kit.run_all() == attempts
    record = await job.record()
    assert (record.state, record.failure_type) == (State.FAILED, failure_type)
    assert [attempt.failure_type for attempt in await job.attempts()] == [failure_type] * attempts


async def test_retries_wait_longer_each_time(kit: TestKit) -> None:
    @kit.app.task(retries=3, retry_delay=10)
    async def doubling() -> None:
        raise ValueError

    @kit.app.task(retries=3, retry_delay=10, backoff="linear")
    async def growing() -> None:
        raise ValueError

    jobs = [await kit.app.enqueue(task) for task in (doubling, growing)]
    await kit.run_all()
    waits = []
    for job in jobs:
        starts = [attempt.started_at for attempt in await job.attempts()]
        waits.append([(b - a) // 1_000_000 for a, b in itertools.pairwise(starts)])
    assert waits == [[10, 20, 40], [10, 20, 30]]


NO_JSON: dict[str, Any] = {
    "object": object(),
    "inside": {"a": {1j}},
    "half a character": "\ud800",
    "nan": [float("nan")],
    "infinity": {"a": -float("inf")},
    "too many digits": 10**5_000,
}


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
async def test_unserializable_result_fails_permanently_with_reason(kit: TestKit, value: Any) -> None:
    @kit.app.task
    async def work() -> Any:
        return value

    job = await kit.app.enqueue(work)
    assert await kit.run_all() == 1, "the work is done: doing it again would not help"
    record = await job.record()
    assert (record.state, record.failure_type) == (State.FAILED, "invalid")
    assert (record.error_message or "").startswith("result: the result of task 'work' cannot be encoded as JSON")


def nested(levels: int) -> Any:
    value: Any = None
    for _ in range(levels):
        value = [value]
    return value


async def test_depth_of_results_progress_and_arguments(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def give(ctx: Context, levels: int, where: str) -> Any:
        if where == "progress":
            await ctx.progress(nested(levels))
        return nested(levels)

    @kit.app.task
    async def take(value: Any) -> None: ...

    levels = {100: State.SUCCEEDED, 101: State.FAILED, 970: State.FAILED}
    made = [(await kit.app.enqueue(give.call(n, where)), n) for n in levels for where in ("result", "progress")]
    await kit.run_all()
    for job, n in made:
        record = await job.record()
        assert record.state is levels[n]
        assert record.failure_type == (None if n == 100 else "invalid")
        assert n != 100 or await job.result(1) == nested(100)
    assert len(await kit.app.jobs(limit=100)) == len(made), "all of them can be read"
    assert await kit.app.enqueue(take.call(nested(99))) is not None
    for refused in (nested(100), float("nan"), [None, float("inf")], "\ud800", 10**5_000):
        with pytest.raises(InvalidInput, match="args: "):
            await kit.app.enqueue(take.call(refused))


async def test_odd_but_legal_json_travels_unchanged(kit: TestKit) -> None:
    @kit.app.task
    async def echo(ctx: Context, value: Any) -> Any:
        await ctx.progress(value)
        return value

    value = ["nul \x00", "\x7f\u2028\ufffe\U0010ffff", {"\x00": 10**400, "": -0.0}, 1e308, 5e-324, None]
    job = await kit.app.enqueue(echo.call(value))
    await kit.run_all()
    assert await job.result(1) == value
    record = await job.record()
    assert record.progress == record.result


async def test_a_result_over_the_limit_fails_for_good(kit_url: str) -> None:
    async with TestKit(App(max_payload_bytes=1024), kit_url) as kit:

        @kit.app.task
        async def work(size: int) -> str:
            return "가" * size

        fits, over = await kit.app.enqueue(work.call(340)), await kit.app.enqueue(work.call(341))
        assert await kit.run_all() == 2
        assert len(await fits.result(20)) == 340
        with pytest.raises(JobFailed, match=r"\(invalid\): result: over the limit of 1,024 bytes; store it elsewhere"):
            await over.result(20)


async def test_long_and_odd_messages_are_kept_as_far_as_they_can_be(
    kit: TestKit, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "hanbeon")  # A lone surrogate in a log breaks some test runners.

    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("cannot even say it")

    errors = [ValueError("x" * 100_000), ValueError("nul\x00 and half \ud800"), Odd(), TaskError()]

    @kit.app.task(retries=0)
    async def fail(number: int) -> None:
        raise errors[number]

    jobs = await kit.app.enqueue_many(fail.call(number) for number in range(len(errors)))
    await kit.run_all()
    messages = [(await job.record()).error_message or "" for job in jobs]
    assert len(messages[0]) == 4_000
    assert messages[1:] == [
        "ValueError: nul\ufffd and half ?",
        "Odd: its text cannot be shown: RuntimeError",
        "TaskError: ",
    ]
    assert [(await job.attempts())[0].status for job in jobs] == [AttemptStatus.FAILED] * 4


async def test_a_failure_type_may_be_anything_that_shows(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def fail(kind: int) -> None:
        raise TaskError("x", failure_type=[404, "", "y" * 1000, "nul\x00"][kind])  # type: ignore[arg-type]

    jobs = await kit.app.enqueue_many(fail.call(kind) for kind in range(4))
    assert await kit.run_all() == 4
    kinds = [(await job.record()).failure_type for job in jobs]
    assert kinds == ["404", "error", "y" * 200, "nul\ufffd"]


@pytest.mark.parametrize("executor", ["async", "thread", "process"])
async def test_results_that_are_not_kept(app: App, executor: str) -> None:
    async def waiting(a: int) -> object:
        return object()

    body: Any = {"async": waiting, "thread": lambda a: object(), "process": bodies.add.function}[executor]
    task = app.task(name="work", executor=executor, keep_result=False)(body)
    async with app.worker():
        job = await app.enqueue(task.call(a=1))
        record = await job.wait(30)
    assert (record.state, record.result) == (State.SUCCEEDED, None)
    with pytest.raises(ResultNotKept, match=f"job {job.id} has succeeded, and task 'work' keeps no results"):
        await job.result()
    shown = await app.engine.job(job.id)
    assert (shown.result, shown.result_kept) == (None, False)


async def test_commands_keep_no_result_if_told(app: App) -> None:
    quiet = app.command("quiet", ["echo", "3"], result="json", keep_result=False)
    loud = app.command("loud", ["echo", "3"], result="json")
    async with app.worker():
        jobs = await app.enqueue_many([quiet.call(), loud.call()])
        assert [(await job.wait(30)).result for job in jobs] == [None, "3"]
    with pytest.raises(TaskDefinitionError, match="a stream task has no such option"):
        app.stream("thumb", "thumbs", keep_result=False)
