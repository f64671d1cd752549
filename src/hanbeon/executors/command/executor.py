"""Bodies that are programs, each in a session of its own that is killed when it must stop."""

from __future__ import annotations

import asyncio
import os
from typing import cast

from hanbeon.clock import Clock
from hanbeon.domain.outcome import Raised
from hanbeon.domain.retry import FailureType
from hanbeon.executors.command.run import Run, too_long
from hanbeon.executors.executor import Call, Done, Work, never, time_limits
from hanbeon.executors.supervisor.wire import TooLong
from hanbeon.executors.supervisor_client import SupervisorClient
from hanbeon.settings import Settings
from hanbeon.tasks.command import Command
from hanbeon.tasks.task import COMMAND


class CommandExecutor:
    """Really stops: SIGTERM, the grace, SIGKILL, and `done` when nothing that the command started is left."""

    name = COMMAND
    offers_transactions = False
    start_seconds = 60.0

    def __init__(self, settings: Settings, clock: Clock, supervisor: SupervisorClient) -> None:
        self._clock, self._supervisor = clock, supervisor
        self._timing = time_limits(settings)
        self._runs: set[Run] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.stop_seconds = self._timing.stop

    def start(self, call: Call, done: Done) -> Work:
        folder = cast(Command, call.task.spec).cwd
        try:
            if folder is not None and not os.path.isdir(folder):
                return never(done, _session_error(f"there is no folder {folder}; create it, or change cwd of the task"))
            run = Run(self._supervisor, self, call, self._timing.grace, done)
        except TooLong as error:
            return never(done, too_long(f"the command cannot be started: {error}"))
        except OSError as error:
            # A full process table, or too many open files.
            return never(done, _session_error(f"the command cannot be started: {error}"))
        self._runs.add(run)
        if self._timer is None:
            self._tick()
        return run

    async def close(self) -> None:
        """Kill what runs. Returns when nothing is left of any command."""
        if self._timer is not None:
            self._timer.cancel()
        await self._supervisor.close()

    # The interface for its runs

    def now(self) -> float:
        return self._clock.monotonic()

    def ended(self, run: Run) -> None:
        self._runs.discard(run)

    def _tick(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._timing.tick, self._tick) if self._runs else None
        for run in self._runs:
            run.keep_alive()


def _session_error(message: str) -> Raised:
    return Raised(message, FailureType.SESSION_ERROR)
