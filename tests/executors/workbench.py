"""An executor of processes or commands without an engine, and what it runs, seen from outside."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import msgspec
import psutil

from hanbeon.clock import SystemClock
from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome
from hanbeon.engine.attempt import Attempt
from hanbeon.executors.command.executor import CommandExecutor
from hanbeon.executors.executor import Call
from hanbeon.executors.process.executor import ProcessExecutor
from hanbeon.executors.supervisor_client import SupervisorClient
from hanbeon.settings import load_settings
from hanbeon.tasks.context import AttemptBackend
from hanbeon.tasks.task import Task
from tests.executors.backend import Started, new_call
from tests.storm.journal import Journal
from tests.storm.sizes import SLACK

GRACE = 0.5


class Overhearing:
    """An attempt whose body is overheard; what it prints and notes goes no further."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self.printed: list[tuple[LogStream, bytes]] = []
        self.progress: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._attempt, name)

    def log(self, stream: LogStream, data: bytes) -> None:
        self.printed.append((stream, data))

    async def write_progress(self, value: Any) -> None:
        self.progress.append(value)


E = TypeVar("E", ProcessExecutor, CommandExecutor)


class AnyBench(Generic[E]):
    kind: type[E]

    def __init__(self, **settings: Any) -> None:
        self._supervisor = SupervisorClient()
        self.executor: E = self.kind(load_settings(**{"stop_grace": GRACE} | settings), SystemClock(), self._supervisor)
        self.attempt: Attempt | None = None

    def start(
        self,
        task: Task[..., Any],
        *,
        backend: dict[str, Any] | None = None,
        result_bytes: int = 1024,
        **arguments: Any,
    ) -> Started:
        backend = {"executor": self.executor} | (backend or {})
        call, self.attempt = new_call(
            task, clock=SystemClock(), backend=backend, max_result_bytes=result_bytes, **arguments
        )
        started = Started(self.executor, self.overheard(call, self.attempt))
        self.attempt.begin(started, SystemClock().monotonic())
        return started

    def overheard(self, call: Call, attempt: Attempt) -> Call:
        return call

    async def run(self, task: Task[..., Any], **arguments: Any) -> Outcome | None:
        return await self.start(task, **arguments).within()

    @property
    def supervisor(self) -> psutil.Process:
        assert self._supervisor.pid is not None
        return psutil.Process(self._supervisor.pid)

    @property
    def session_supervisors(self) -> list[psutil.Process]:
        return self.supervisor.children()

    def work(self) -> list[psutil.Process]:
        """Everything below the session_supervisors, dead ones that nobody waited for included."""
        session_supervisors = self.session_supervisors
        return [each for each in self.supervisor.children(recursive=True) if each not in session_supervisors]


class Bench(AnyBench[ProcessExecutor]):
    kind = ProcessExecutor


class CommandBench(AnyBench[CommandExecutor]):
    kind = CommandExecutor
    backend: Overhearing

    def overheard(self, call: Call, attempt: Attempt) -> Call:
        self.backend = Overhearing(attempt)
        return msgspec.structs.replace(call, backend=cast(AttemptBackend, self.backend))

    def printed(self, stream: LogStream = LogStream.STDOUT) -> bytes:
        """The output of the last command there."""
        return b"".join(data for on, data in self.backend.printed if on is stream)


async def until(what: str, ask: Callable[[], Any], seconds: float = 20.0) -> Any:
    """The first answer that is true."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, f"within {seconds:g} s it never came to this: {what}"
        await asyncio.sleep(0.02)
    return answer


async def numbers(journal: Journal, count: int = 2) -> list[int]:
    """The pids of the processes that reported themselves, once there are `count`."""

    def reported() -> list[int]:
        return [int(words[1]) for words in journal.lines() if len(words) == 2]

    return list(await until(f"{count} processes", lambda: reported() if len(reported()) >= count else None))


def alive(pid: int) -> bool:
    """Return True if it runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


async def watched(started: Started, processes: list[int], seconds: float = GRACE + SLACK) -> tuple[float, list[int]]:
    """The time its end was reported (after a stop), and the processes that ran at that very moment."""
    moment: asyncio.Future[tuple[float, list[int]]] = asyncio.get_running_loop().create_future()
    started.when_over(lambda: moment.set_result((time.monotonic(), [pid for pid in processes if alive(pid)])))
    assert await started.within(seconds) is None
    return await moment
