"""The executors that a worker has on this system."""

from __future__ import annotations

import sys
from collections.abc import Callable

from hanbeon.clock import Clock
from hanbeon.errors import ProcessesUnsupported
from hanbeon.executors.coroutine import AsyncExecutor
from hanbeon.executors.executor import Executor
from hanbeon.executors.http.executor import HttpExecutor
from hanbeon.executors.stream import StreamExecutor
from hanbeon.executors.thread import ThreadExecutor
from hanbeon.rule import Rule
from hanbeon.settings import Settings
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task import COMMAND, PROCESS

LocalExecutors = Callable[[Settings, Clock, Registry, int], tuple[list[Executor], HttpExecutor, Executor]]


def local_executors(
    settings: Settings, clock: Clock, tasks: Registry, threads: int
) -> tuple[list[Executor], HttpExecutor, Executor]:
    """Return all of them; besides, the one for HTTP calls, and the one for blocking functions.

    Raises for tasks that none of them can run.
    """
    blocking: Executor = ThreadExecutor(threads)
    http = HttpExecutor(settings, clock)
    executors: list[Executor] = [AsyncExecutor(), blocking, http, StreamExecutor()]
    if sys.platform == "linux":
        from hanbeon.executors.command.executor import CommandExecutor
        from hanbeon.executors.process.executor import ProcessExecutor
        from hanbeon.executors.supervisor_client import SupervisorClient

        supervisor = SupervisorClient()
        blocking = ProcessExecutor(settings, clock, supervisor)
        executors += [blocking, CommandExecutor(settings, clock, supervisor)]
    elif killable := [task.name for task in tasks if task.executor in (PROCESS, COMMAND)]:
        raise ProcessesUnsupported(Rule("killable_on_linux", tasks=killable))
    return executors, http, blocking
