"""Bodies that run in turn in one task: to each of them it looks like its own."""

import asyncio
import contextvars
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from hanbeon import App
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.executors.executor import StopCause
from tests.executors.backend import Started, new_call

_LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
_SELF_CANCELLED = "the task cancelled itself"
_value: contextvars.ContextVar[str] = contextvars.ContextVar("value", default="unset")
Body = Callable[[], Coroutine[Any, Any, Any]]


class Batch:
    """Bodies that begin together."""

    def __init__(self, *bodies: Body) -> None:
        executor = AsyncExecutor()
        tasks = {body: App().task(body) for body in bodies}
        self.started = [Started(executor, new_call(tasks[body])[0]) for body in bodies]

    async def outcomes(self) -> list[Outcome | None]:
        return [await each.within(120) for each in self.started]


@pytest.fixture(params=list(_LOOPS))
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    """Run a scene on a loop of each kind."""

    def run(scene: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=_LOOPS[request.param]) as runner:
            runner.run(scene)

    return run


Run = Callable[[Coroutine[Any, Any, None]], None]


def test_batch_runs_bodies_in_one_task(run: Run) -> None:
    seen: list[Any] = []

    async def body() -> int:
        task = asyncio.current_task()
        assert task is not None
        seen.append((id(task), task.get_name()))
        return len(seen)

    async def scene() -> None:
        assert await Batch(body, body, body).outcomes() == [Returned("1"), Returned("2"), Returned("3")]
        assert len(set(seen)) == 1
        assert seen[0][1] == "01a1e189-eda6-7180-9760-000000000001"

    run(scene())


def test_batch_gives_each_body_its_context(run: Run) -> None:
    async def leaves() -> str:
        before = _value.get()
        _value.set("left behind")
        return before

    async def waits() -> str:
        before = _value.get()
        _value.set("kept")
        await asyncio.sleep(0)
        return f"{before}, {_value.get()}"

    async def scene() -> None:
        _value.set("given")
        outcomes = await Batch(leaves, leaves, waits, leaves).outcomes()
        assert outcomes == [Returned('"given"'), Returned('"given"'), Returned('"given, kept"'), Returned('"given"')]
        assert _value.get() == "given"

    run(scene())


def test_body_that_waits_keeps_its_task(run: Run) -> None:
    async def waits() -> bool:
        before = asyncio.current_task()
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0.001))
        return asyncio.current_task() is before

    async def times_out() -> str:
        try:
            async with asyncio.timeout(0.001):
                await asyncio.sleep(3600)
        except TimeoutError:
            return "late"
        return "never"

    async def scene() -> None:
        outcomes = await Batch(waits, times_out, waits).outcomes()
        assert outcomes == [Returned("true"), Returned('"late"'), Returned("true")]

    run(scene())


def test_bodies_that_wait_do_so_at_once(run: Run) -> None:
    """None of them begins only after another has ended."""
    inside = 0

    async def meets() -> None:
        nonlocal inside
        inside += 1
        while inside < 3:  # noqa: ASYNC110 - a wait that nothing else ends
            await asyncio.sleep(0)

    async def scene() -> None:
        assert await Batch(meets, meets, meets).outcomes() == [Returned("null")] * 3

    run(scene())


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, StopAsyncIteration])
def test_body_that_raises_fails_alone(run: Run, error: type[BaseException]) -> None:
    async def raises() -> None:
        raise error("no")

    async def waits_and_raises() -> None:
        await asyncio.sleep(0)
        raise error("no")

    async def fine() -> None:
        return

    async def scene() -> None:
        first, second, third, fourth = await Batch(fine, raises, waits_and_raises, fine).outcomes()
        assert isinstance(second, Raised)
        assert isinstance(third, Raised)
        assert error.__name__ in second.message
        assert error.__name__ in third.message
        assert first == fourth == Returned("null")

    run(scene())


def test_body_that_cancels_its_task_ends_alone(run: Run) -> None:
    async def cancels() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    async def raises() -> None:
        raise asyncio.CancelledError

    async def later() -> None:
        """Its task is cancelled after it has ended."""
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().call_soon(task.cancel)

    async def fine() -> None:
        await asyncio.sleep(0.001)

    async def scene() -> None:
        outcomes = await Batch(later, cancels, fine, raises, fine).outcomes()
        messages = [each.message if isinstance(each, Raised) else each for each in outcomes]
        cancelled = f"RuntimeError: {_SELF_CANCELLED}"
        assert messages == [Returned("null"), cancelled, Returned("null"), cancelled, Returned("null")]

    run(scene())


def test_body_is_stopped_before_its_turn(run: Run) -> None:
    ran: list[int] = []

    async def body() -> None:
        ran.append(1)

    async def scene() -> None:
        batch = Batch(body, body, body)
        batch.started[1].stop(StopCause.CANCELLED)
        assert await batch.outcomes() == [Returned("null"), None, Returned("null")]
        assert len(ran) == 2

    run(scene())


def test_body_is_stopped_while_it_waits(run: Run) -> None:
    async def fine() -> None:
        return

    async def waits() -> None:
        await asyncio.sleep(3600)

    async def scene() -> None:
        batch = Batch(fine, waits, waits)
        assert await batch.started[0].within(60) == Returned("null")
        for each in batch.started[1:]:
            each.stop(StopCause.CANCELLED)
        assert (await batch.outcomes())[1:] == [None, None]

    run(scene())


def test_long_batch_lets_others_run(run: Run) -> None:
    """Between two bodies that take long, whatever else is ready has its turn."""
    order: list[str] = []

    async def long() -> None:
        order.append("body")
        time.sleep(0.02)  # noqa: ASYNC251 - it is about bodies that hold up the loop

    async def scene() -> None:
        batch = Batch(long, long, long)
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: loop.call_soon(order.append, "other"))
        await batch.outcomes()
        assert order.index("other") < 3

    run(scene())


def test_cancelled_runner_leaves_no_body_behind(run: Run) -> None:
    """It pauses after a body that took long, and there a cancellation reaches it."""

    async def long() -> None:
        time.sleep(0.02)  # noqa: ASYNC251

    async def scene() -> None:
        batch = Batch(long, long, long)
        (runner,) = [task for task in asyncio.all_tasks() if task.get_name() == "hanbeon-bodies"]
        await asyncio.sleep(0)
        runner.cancel()
        assert await batch.outcomes() == [Returned("null")] * 3

    run(scene())
