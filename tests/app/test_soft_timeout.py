"""`soft_timeout` tells a body that its time is nearly up; `timeout` stops it."""

import asyncio
import threading
from typing import Any

import pytest

from hanbeon import App, Context, SoftTimeout, State, SyncContext
from hanbeon.errors import TaskDefinitionError
from hanbeon.testing import TestKit
from tests.executors import bodies


async def test_coroutine_is_told_where_it_waits(kit: TestKit) -> None:
    @kit.app.task(soft_timeout="10s", timeout=20)
    async def slow(ctx: Context) -> list[object]:
        done: list[object] = [ctx.soft_timeout_passed]
        try:
            async with asyncio.timeout(15), asyncio.TaskGroup() as group:
                group.create_task(asyncio.Event().wait())
        except* SoftTimeout as group_of:
            done.append(str(group_of.exceptions[0]))
        task = asyncio.current_task()
        assert task is not None
        await asyncio.sleep(0)
        return [*done, ctx.soft_timeout_passed, task.cancelling()]

    job = await kit.app.enqueue(slow)
    await kit.start_ready()
    await kit.advance(9)
    assert await job.state() is State.RUNNING
    await kit.advance(2)
    await kit.settle()
    assert await job.result(1) == [False, "its soft timeout of 10 s has passed", True, 0]


async def test_body_that_lets_it_pass_fails_like_by_a_timeout(kit: TestKit) -> None:
    @kit.app.task(soft_timeout=10, timeout=20, retries=1, retry_delay=0)
    async def slow() -> None:
        await asyncio.Event().wait()

    job = await kit.app.enqueue(slow)
    for _ in range(2):
        await kit.start_ready()
        await kit.advance(11)
        await kit.settle()
    assert [(each.status, each.failure_type, each.exception) for each in await job.attempts()] == [
        ("failed", "timeout", "hanbeon.work_errors.SoftTimeout")
    ] * 2


async def test_timeout_stops_a_body_that_goes_on(kit: TestKit) -> None:
    seen: list[str] = []

    @kit.app.task(soft_timeout=10, timeout=20, retries=0)
    async def stubborn() -> None:
        for _ in range(2):
            try:
                await asyncio.Event().wait()
            except BaseException as error:
                seen.append(type(error).__name__)
        raise asyncio.CancelledError

    job = await kit.app.enqueue(stubborn)
    await kit.start_ready()
    await kit.advance(21)
    await kit.settle()
    assert seen == ["SoftTimeout", "CancelledError"]
    assert (await job.attempts())[0].status == "timeout"


async def test_thread_finds_a_flag(kit: TestKit) -> None:
    go = threading.Event()

    @kit.app.task(soft_timeout=10, executor="thread")
    def slow(ctx: SyncContext) -> bool:
        go.wait(30)
        return ctx.soft_timeout_passed

    job = await kit.app.enqueue(slow)
    await kit.start_ready()
    await kit.advance(11)
    go.set()
    await kit.settle()
    assert await job.result(1) is True


async def test_worker_process_is_told_by_a_signal(app: App) -> None:
    task = app.task(soft_timeout=0.3, timeout=60)(bodies.wait_softly.function)
    assert task.executor == "process"
    async with app.worker():
        jobs = [await app.enqueue(task.call(catches=catches), retries=0) for catches in (True, False)]
        first, second = [await job.wait(30) for job in jobs]
    assert (first.state, first.result) == (State.SUCCEEDED, '["warned",true]')
    assert (second.failure_type, second.exception) == ("timeout", "hanbeon.work_errors.SoftTimeout")


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"soft_timeout": 0}, "must be positive"),
        ({"soft_timeout": 60, "timeout": "1m"}, "must be less than timeout, 60 s, which stops the body, got 60"),
        ({"soft_timeout": "soon"}, "must be a duration"),
    ],
)
async def test_other_values_are_refused(app: App, options: dict[str, Any], remedy: str) -> None:
    async def work() -> None: ...

    with pytest.raises(TaskDefinitionError, match=f"soft_timeout: {remedy}"):
        app.task(**options)(work)
    with pytest.raises(TaskDefinitionError, match="use timeout, which stops with SIGTERM first"):
        app.command("list", ["ls"], soft_timeout=10)
