"""The skeleton of every loop: it backs off, survives, wakes up, and ends when cancelled."""

import asyncio
import types
from collections.abc import Awaitable, Callable

import pytest

from hanbeon.engine import loop as loops
from hanbeon.engine.loop import AGAIN, Loop
from hanbeon.errors import DatabaseUnavailable

A_WHILE = 1_000.0


class Steps:
    """A step that follows a script, one entry each time, and then waits for ever."""

    def __init__(self, *script: float | Exception | Callable[[], float]) -> None:
        self._script = list(script)
        self.taken = 0
        self.done = asyncio.Event()

    async def __call__(self) -> float:
        if not self._script:
            self.done.set()
            return A_WHILE
        self.taken += 1
        entry = self._script.pop(0)
        if isinstance(entry, Exception):
            raise entry
        return entry() if callable(entry) else entry


async def until(event: asyncio.Event) -> None:
    async with asyncio.timeout(5):
        await event.wait()


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait([task])
    assert task.cancelled()


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the loop slept, without sleeping; nothing is left to chance."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        if seconds:
            slept.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(loops, "asyncio", types.SimpleNamespace(**(vars(asyncio) | {"sleep": sleep})))
    monkeypatch.setattr("hanbeon.chance.chance.uniform", lambda low, high: high)
    return slept


@pytest.mark.parametrize("error", [DatabaseUnavailable("gone"), TimeoutError("slow")])
async def test_backs_off_while_the_database_is_down_then_resets(error: Exception, sleeps: list[float]) -> None:
    steps = Steps(*[error] * 7, AGAIN, error)
    running = asyncio.create_task(Loop("test", steps).run())
    await until(steps.done)
    assert sleeps == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.2])
    await ended(running)


async def test_back_off_has_jitter(monkeypatch: pytest.MonkeyPatch, sleeps: list[float]) -> None:
    monkeypatch.setattr("hanbeon.chance.chance.uniform", lambda low, high: low)
    steps = Steps(*[DatabaseUnavailable("gone")] * 8)
    running = asyncio.create_task(Loop("test", steps).run())
    await until(steps.done)
    assert sleeps[-1] == pytest.approx(2.5)
    await ended(running)


async def test_wake_ups_do_not_shorten_the_back_off(sleeps: list[float]) -> None:
    error = DatabaseUnavailable("gone")
    loop: Loop

    def woken_and_away() -> float:
        loop.wake()
        raise error

    steps = Steps(*[woken_and_away] * 3)
    loop = Loop("test", steps)
    running = asyncio.create_task(loop.run())
    await until(steps.done)
    assert sleeps == pytest.approx([0.2, 0.4, 0.8])
    await ended(running)


async def test_a_defect_does_not_end_the_loop(caplog: pytest.LogCaptureFixture) -> None:
    steps = Steps(ValueError("a defect"), AGAIN)
    loop = Loop("test", steps)
    running = asyncio.create_task(loop.run())
    await turns()
    assert steps.taken == 1, "tried again slowly"
    loop.wake()
    await until(steps.done)
    assert steps.taken == 2
    assert "loop_failed" in caplog.text
    assert "ValueError: a defect" in caplog.text
    await ended(running)


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_wake_up_ends_the_pause() -> None:
    steps = Steps(A_WHILE, A_WHILE)
    loop = Loop("test", steps)
    running = asyncio.create_task(loop.run())
    await turns()
    assert steps.taken == 1
    loop.wake()
    await turns()
    assert steps.taken == 2
    loop.wake()
    await until(steps.done)
    await ended(running)


async def test_a_wake_up_during_the_step_is_not_lost() -> None:
    loop: Loop

    def woken_meanwhile() -> float:
        loop.wake()
        return A_WHILE

    steps = Steps(woken_meanwhile, A_WHILE)
    loop = Loop("test", steps)
    running = asyncio.create_task(loop.run())
    await turns()
    assert steps.taken == 2, "what arrived while it looked is looked at again"
    await ended(running)


async def test_a_pause_ends_by_itself() -> None:
    steps = Steps(0.001, 0.001)
    running = asyncio.create_task(Loop("test", steps).run())
    await until(steps.done)
    await ended(running)


async def test_a_busy_loop_lets_others_run() -> None:
    async def step() -> float:
        return AGAIN

    running = asyncio.create_task(Loop("test", step).run())
    await turns()
    assert not running.done()
    await ended(running)


async def in_its_step() -> float:
    await asyncio.Event().wait()
    return AGAIN


async def in_its_pause() -> float:
    return A_WHILE


async def in_its_back_off() -> float:
    raise DatabaseUnavailable("gone")


@pytest.mark.parametrize("step", [in_its_step, in_its_pause, in_its_back_off])
async def test_ends_at_once_when_cancelled(step: Callable[[], Awaitable[float]]) -> None:
    running = asyncio.create_task(Loop("test", step).run())
    await turns()
    await ended(running)


async def test_wake_up_does_not_swallow_a_cancellation() -> None:
    loop = Loop("test", in_its_pause)
    running = asyncio.create_task(loop.run())
    await turns()
    loop.wake()
    await ended(running)
