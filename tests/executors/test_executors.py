"""Where bodies run: what each executor makes of every way to end, and what stopping means there."""

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hanbeon import App, Context, PermanentError, SyncContext, TaskError
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.executors.executor import StopCause
from hanbeon.executors.thread import ThreadExecutor
from hanbeon.tasks.context import PutOffRequest
from tests.executors.backend import Started, new_call

ENDINGS: list[tuple[Any, Outcome]] = [
    ({"a": [1, None]}, Returned('{"a":[1,null]}')),
    (None, Returned("null")),
    (ValueError("x"), Raised("ValueError: x")),
    (ValueError(), Raised("ValueError: ")),
    (StopIteration("x"), Raised("StopIteration: x")),
    (SystemExit(3), Raised("SystemExit: 3")),
    (TaskError("x", failure_type="session_error"), Raised("x", "session_error")),
    (PermanentError("x"), Raised("x", "error", permanent=True)),
    (PermissionError(13, "denied"), Raised("PermissionError: [Errno 13] denied", "permission_error")),
    (PutOffRequest(1.5, "later"), PutOff(1_500_000, "later")),
    (
        "x" * 1023,
        Raised("result: over the limit of 1,024 bytes; store it elsewhere and return a reference", "invalid", True),
    ),
]


def end(how: Any) -> Any:
    if isinstance(how, BaseException):
        raise how
    return how


@pytest.fixture
def threads() -> Iterator[ThreadExecutor]:
    executor = ThreadExecutor(2)
    yield executor
    executor._pool.shutdown(wait=True)


async def outcome_of(work: Started) -> Outcome | None:
    return await work.within(10)


@pytest.mark.parametrize(("how", "expected"), ENDINGS, ids=lambda value: type(value).__name__)
async def test_ends_of_a_coroutine(how: Any, expected: Outcome) -> None:
    @App().task
    async def work() -> Any:
        return end(how)

    if isinstance(how, StopIteration):
        expected = Raised("RuntimeError: coroutine raised StopIteration")  # Python's own rule.
    call, _ = new_call(work)
    assert await outcome_of(Started(AsyncExecutor(), call)) == expected


@pytest.mark.parametrize(("how", "expected"), ENDINGS, ids=lambda value: type(value).__name__)
async def test_ends_of_a_thread(how: Any, expected: Outcome, threads: ThreadExecutor) -> None:
    @App().task
    def work() -> Any:
        return end(how)

    call, _ = new_call(work)
    assert await outcome_of(Started(threads, call)) == expected
    assert await outcome_of(Started(threads, call)) == expected, "the pool has survived it"


async def test_a_stopped_coroutine_has_no_outcome_of_its_own() -> None:
    @App().task
    async def work() -> None:
        await asyncio.Event().wait()

    call, _ = new_call(work)
    running = Started(AsyncExecutor(), call)
    await asyncio.sleep(0)
    running.stop(StopCause.CANCELLED)
    running.stop(StopCause.LEASE_LOST)
    assert await outcome_of(running) is None


async def test_a_coroutine_stopped_before_its_first_step_never_runs() -> None:
    ran: list[int] = []

    @App().task
    async def work() -> None:
        ran.append(1)

    call, _ = new_call(work)
    running = Started(AsyncExecutor(), call)
    running.stop(StopCause.SHUTDOWN)
    assert await outcome_of(running) is None
    assert ran == []


async def test_a_stubborn_coroutine_ends_when_it_ends() -> None:
    go = asyncio.Event()

    @App().task
    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await go.wait()
        return "after all"

    call, _ = new_call(work)
    running = Started(AsyncExecutor(), call)
    await asyncio.sleep(0)
    running.stop(StopCause.DEADLINE)
    ended = asyncio.create_task(running.outcome())
    await asyncio.sleep(0.01)
    assert not ended.done(), "it is not over before the body is"
    go.set()
    assert await ended == Returned('"after all"')


async def test_a_coroutine_that_cancels_itself_has_failed() -> None:
    @App().task
    async def work() -> None:
        raise asyncio.CancelledError

    call, _ = new_call(work)
    assert await outcome_of(Started(AsyncExecutor(), call)) == Raised("RuntimeError: the task cancelled itself")


async def test_arguments_and_context_reach_the_body(threads: ThreadExecutor) -> None:
    app = App()

    @app.task
    async def awaited(ctx: Context, a: int) -> list[object]:
        return [ctx.job_id, a, threading.current_thread() is threading.main_thread()]

    @app.task
    def threaded(ctx: SyncContext, a: int) -> list[object]:
        return [ctx.job_id, a, threading.current_thread() is threading.main_thread()]

    one, attempt = new_call(awaited, a=1)
    two, _ = new_call(threaded, a=2)
    assert await outcome_of(Started(AsyncExecutor(), one)) == Returned(f'["{attempt.job.id}",1,true]')
    assert await outcome_of(Started(threads, two)) == Returned(f'["{attempt.job.id}",2,false]')


async def test_a_thread_sees_that_it_should_stop(threads: ThreadExecutor) -> None:
    began = threading.Event()

    @App().task
    def work(ctx: SyncContext) -> bool:
        began.set()
        while not ctx.stopping:
            threading.Event().wait(0.002)
        return ctx.stopping

    call, attempt = new_call(work)
    running = Started(threads, call)
    assert await asyncio.to_thread(began.wait, 10)
    attempt.begin(running, 0.0)
    attempt.stop(StopCause.CANCELLED)
    assert await outcome_of(running) == Returned("true")


async def test_context_variables_travel_into_threads(threads: ThreadExecutor) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("request")
    variable.set("r-1")

    @App().task
    def work() -> str:
        return variable.get()

    call, _ = new_call(work)
    assert await outcome_of(Started(threads, call)) == Returned('"r-1"')


async def test_a_closed_pool_waits_for_nobody() -> None:
    go = threading.Event()

    @App().task
    def work() -> None:
        go.wait(10)

    executor = ThreadExecutor(1)
    call, _ = new_call(work)
    running = Started(executor, call)
    async with asyncio.timeout(1):
        await executor.close()
    go.set()
    assert await outcome_of(running) == Returned()
