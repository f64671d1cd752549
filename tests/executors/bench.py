"""A process executor without an engine, and what it runs, seen from outside."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

import psutil

from hanbeon.clock import SystemClock
from hanbeon.domain.outcome import Outcome
from hanbeon.engine.attempt import Attempt
from hanbeon.executors.process.executor import ProcessExecutor
from hanbeon.settings import load_settings
from hanbeon.tasks.task import Task
from tests.executors.desk import Started, new_call
from tests.processes.journal import Journal

GRACE = 0.5


class Bench:
    def __init__(self, **settings: Any) -> None:
        self.executor = ProcessExecutor(load_settings(**{"stop_grace": GRACE} | settings), SystemClock())
        self.attempt: Attempt | None = None

    def start(self, task: Task[..., Any], *, desk: dict[str, Any] | None = None, **arguments: Any) -> Started:
        desk = {"executor": self.executor} | (desk or {})
        call, self.attempt = new_call(task, clock=SystemClock(), desk=desk, **arguments)
        started = Started(self.executor, call)
        self.attempt.begin(started, SystemClock().monotonic())
        return started

    async def run(self, task: Task[..., Any], **arguments: Any) -> Outcome | None:
        return await self.start(task, **arguments).within()

    @property
    def guardian(self) -> psutil.Process:
        assert self.executor.guardian is not None
        return psutil.Process(self.executor.guardian)

    @property
    def keepers(self) -> list[psutil.Process]:
        return self.guardian.children()

    def work(self) -> list[psutil.Process]:
        """Everything below the keepers, dead ones that nobody waited for included."""
        keepers = self.keepers
        return [each for each in self.guardian.children(recursive=True) if each not in keepers]


async def until(what: str, ask: Callable[[], Any], seconds: float = 20.0) -> Any:
    """The first answer that is true."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, f"within {seconds:g} s it never came to this: {what}"
        await asyncio.sleep(0.005)
    return answer


async def numbers(journal: Journal, count: int = 2) -> list[int]:
    """The numbers of the processes that told of themselves, once there are as many."""

    def told() -> list[int]:
        return [int(words[1]) for words in journal.lines() if len(words) == 2]

    return list(await until(f"{count} processes", lambda: told() if len(told()) >= count else None))


def alive(pid: int) -> bool:
    """Whether it runs; one that is dead and not waited for does not."""
    try:
        os.kill(pid, 0)
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
