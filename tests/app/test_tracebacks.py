"""The exception of a failed attempt: its class and its traceback, wherever somebody asks why."""

import asyncio
import traceback
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.errors import JobFailed
from hanbeon.executors.traceback_text import TRACEBACK_BYTES
from hanbeon.outbound.secrets import SecretSource
from hanbeon.testing import TestKit
from tests.executors import bodies
from tests.service.raw_sql import run_sql


def price_of(row: dict[str, int]) -> int:
    try:
        return row["price"]
    except KeyError as error:
        error.add_note("row 7")
        raise ValueError("no price") from error


@pytest.mark.parametrize("executor", ["async", "thread"])
async def test_failed_attempt_keeps_its_traceback(kit: TestKit, executor: str) -> None:
    def plain() -> None:
        price_of({})

    async def waiting() -> None:
        await asyncio.sleep(0)
        price_of({})

    task = kit.app.task(retries=0, executor=executor, name="buy")(waiting if executor == "async" else plain)
    job = await kit.app.enqueue(task)
    await kit.run_all()
    failure = (await job.record()).failure
    assert failure is not None
    assert (failure.type, failure.message, failure.exception) == ("error", "ValueError: no price", "ValueError")
    lines = (failure.traceback or "").splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert __file__ in lines[1]
    assert lines[-1] == "ValueError: no price"
    for part in ("KeyError: 'price'", "row 7", "direct cause of the following exception", 'return row["price"]'):
        assert part in (failure.traceback or "")
    assert str(Path("hanbeon", "executors")) not in (failure.traceback or ""), "frames of Hanbeon are cut"
    (attempt,) = await job.attempts()
    assert attempt.failure == failure
    with pytest.raises(JobFailed) as raised:
        await job.result()
    assert raised.value.traceback == failure.traceback
    assert 'return row["price"]' in "".join(traceback.format_exception(raised.value))


async def test_process_task_keeps_its_traceback(app: App) -> None:
    end = app.task(executor="process", retries=0)(bodies.end.function)
    async with app.worker():
        job = await app.enqueue(end.call("value"))
        record = await job.wait(30)
    assert record.exception == "ValueError"
    lines = (record.traceback or "").splitlines()
    assert bodies.__file__ in lines[1]
    assert (lines[2].strip(), lines[-1]) == ('raise ValueError("x")', "ValueError: x")


async def test_each_attempt_has_its_own_traceback(kit: TestKit) -> None:
    left = ["one", "two"]

    @kit.app.task(retries=2, retry_delay=0)
    async def work() -> None:
        if left:
            raise LookupError(left.pop(0))

    job = await kit.app.enqueue(work)
    await kit.run_all()
    first, second, third = await job.attempts()
    assert ["LookupError: one" in (first.traceback or ""), "LookupError: two" in (second.traceback or "")] == [
        True,
        True,
    ]
    assert (third.failure, (await job.record()).failure) == (None, None)


async def test_retried_job_has_no_traceback_of_before(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def work() -> None:
        raise ValueError

    job = await kit.app.enqueue(work)
    await kit.run_all()
    await kit.app.retry(job)
    record = await job.record()
    assert (record.failure, record.traceback) == (None, None)
    (attempt,) = await job.attempts()
    assert attempt.traceback is not None, "history is kept"


async def test_long_traceback_loses_its_middle(kit: TestKit) -> None:
    @kit.app.task(retries=0)
    async def work() -> None:
        raise ValueError("first " + "한" * 1_000_000 + "\x00" * 100 + " \ud800 last")

    job = await kit.app.enqueue(work)
    await kit.run_all()
    text = (await job.record()).traceback or ""
    assert len(text.encode()) <= TRACEBACK_BYTES
    assert "bytes are left out" in text
    assert text.endswith("last")
    assert "first 한" in text


async def test_secret_is_masked_in_the_failure(
    kit: TestKit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @kit.app.task(retries=0)
    async def work() -> None:
        raise ValueError("refused hunter2-hunter2")

    monkeypatch.setenv("PASSWORD_OF_SHOP", "hunter2-hunter2")
    kit.app.secrets.declare({"shop": SecretSource(env="PASSWORD_OF_SHOP")})
    job = await kit.app.enqueue(work)
    await kit.run_all()
    failure = (await job.record()).failure
    assert failure is not None
    assert failure.message == "ValueError: refused ****"
    assert "ValueError: refused ****" in (failure.traceback or "")
    assert "refused ****" in caplog.text
    assert "hunter2" not in (failure.traceback or "") + caplog.text


async def test_pruning_takes_the_tracebacks(kit: TestKit) -> None:
    @kit.app.task(retries=1, retry_delay=0)
    async def work() -> None:
        raise ValueError

    await kit.app.enqueue(work)
    await kit.run_all()
    count = "SELECT count(*) AS n FROM hanbeon.attempt_exception"
    assert (await run_sql(kit.app.store, count))[0]["n"] == 2
    await kit.advance(31 * 86_400)
    await kit.prune()
    assert (await run_sql(kit.app.store, count))[0]["n"] == 0


async def test_success_writes_no_exception(kit: TestKit) -> None:
    @kit.app.task
    async def work() -> None:
        return None

    job = await kit.app.enqueue(work)
    await kit.run_all()
    (attempt,) = await job.attempts()
    assert (attempt.failure, (await job.record()).failure) == (None, None)
