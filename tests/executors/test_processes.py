"""Bodies in processes: every way to end, and that nothing is left of what was stopped."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.executors.port import StopCause
from hanbeon.executors.process.executor import ProcessExecutor
from hanbeon.settings import load_settings
from hanbeon.tasks.task import Task
from tests.executors import bodies
from tests.executors.desk import Started, new_call

ENDINGS: list[tuple[str, Outcome]] = [
    ("exit", Raised("the worker process has ended with exit code 3", "session_error")),
    ("segfault", Raised("the worker process was killed by SIGSEGV", "session_error")),
    ("system exit", Raised("SystemExit: 3")),
    ("value", Raised("ValueError: x")),
    ("task", Raised("x", "git_conflict")),
    ("permanent", Raised("x", "error", permanent=True)),
    ("permission", Raised("PermissionError: [Errno 13] denied", "permission_error")),
    ("put off", PutOff(1_500_000, "later")),
    ("nul and half a pair", Raised("ValueError: \x00 ?")),
    ("unprintable", Raised("Unprintable: its text cannot be shown: RuntimeError")),
    (
        "large",
        Raised("result: over the limit of 1,024 bytes; store it elsewhere and return a reference", "invalid", True),
    ),
]


class Bench:
    """An executor and what it runs."""

    def __init__(self, **settings: Any) -> None:
        self.executor = ProcessExecutor(load_settings(**settings), SystemClock())

    def start(self, task: Task[..., Any], **arguments: Any) -> Started:
        call, attempt = new_call(task, clock=SystemClock(), **arguments)
        started = Started(self.executor, call)
        attempt.begin(started, SystemClock().monotonic())
        return started

    async def run(self, task: Task[..., Any], **arguments: Any) -> Outcome | None:
        return await self.start(task, **arguments).within()

    def processes(self) -> list[psutil.Process]:
        """Everything below the guardian."""
        assert self.executor.guardian is not None
        return psutil.Process(self.executor.guardian).children(recursive=True)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench(stop_grace=0.3)
    yield made
    await made.executor.close()


async def test_a_body_returns_and_the_next_runs_in_the_same_process(bench: Bench) -> None:
    assert await bench.run(bodies.add, a=1, b=2) == Returned("3")
    first, second = await bench.run(bodies.whoami), await bench.run(bodies.whoami)
    assert first == second
    assert bench.executor.processes == [int(first.result)]  # type: ignore[union-attr]


@pytest.mark.parametrize(("how", "expected"), ENDINGS, ids=[how for how, _ in ENDINGS])
async def test_ends_of_a_process(bench: Bench, how: str, expected: Outcome) -> None:
    assert await bench.run(bodies.end, how=how) == expected
    assert await bench.run(bodies.add, a=1) == Returned("1"), "the next job runs"


async def test_a_sleeping_body_is_killed_and_has_no_outcome(bench: Bench) -> None:
    await bench.run(bodies.add, a=1)
    started = bench.start(bodies.sleep)
    started.stop(StopCause.DEADLINE)
    async with asyncio.timeout(1.5):
        assert await started.outcome() is None
    assert bench.processes() == []
