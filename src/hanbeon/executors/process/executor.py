"""Bodies that are plain functions, each in a process that is killed when it must stop."""

from __future__ import annotations

import asyncio
import os
import sys

from hanbeon.clock import Clock
from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.executors.guard import Guardian
from hanbeon.executors.port import Call, Done, StopCause, failed
from hanbeon.executors.process.finding import main_program
from hanbeon.executors.process.messages import Run, Setup, encode
from hanbeon.executors.process.worker import WorkerProcess
from hanbeon.settings import Settings
from hanbeon.tasks.task import PROCESS

# A process more than is kept is not ended at once: the next batch of jobs may want it.
_LINGER_SECONDS = 5.0


class ProcessExecutor:
    """Really stops: SIGTERM, the grace, SIGKILL, and `done` when nothing of the work is left.

    A job never waits for another's process: there are as many as jobs run, and `processes` idle ones are kept.
    """

    name = PROCESS
    lends_transactions = False
    start_seconds = 60.0

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings, self._clock = settings, clock
        self._guardian = Guardian()
        self._all: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []
        self._warm = settings.processes or len(os.sched_getaffinity(0))
        self._tick_seconds = min(1.0, settings.lease / 30)
        self._timer: asyncio.TimerHandle | None = None
        self.stop_seconds = settings.grace + min(0.5, settings.lease / 20)

    def start(self, call: Call, done: Done) -> ProcessWork:
        try:
            order = _order(call)
            process = self._take(call.task.memory)
        except Exception as error:
            # A full process table or too many open files. The engine hears of it as of any other end.
            asyncio.get_running_loop().call_soon(done, _not_started(call, error))
            return ProcessWork(None, call)
        process.run(call, order, done)
        if self._timer is None:
            self._tick()
        return ProcessWork(process, call)

    async def close(self) -> None:
        """Returns when nothing is left of any of them."""
        if self._timer is not None:
            self._timer.cancel()
        await self._guardian.close()

    @property
    def guardian(self) -> int | None:
        return self._guardian.pid

    @property
    def processes(self) -> list[int]:
        return [process.pid for process in self._all if process.pid is not None]

    # What its processes ask of it

    def now(self) -> float:
        return self._clock.monotonic()

    def freed(self, process: WorkerProcess) -> None:
        if process.jobs >= self._settings.jobs_per_process:
            process.stop()
        else:
            process.idle_since = self._clock.monotonic()
            self._idle.append(process)

    def ended(self, process: WorkerProcess) -> None:
        self._all.discard(process)
        if process in self._idle:
            self._idle.remove(process)

    # How many there are

    def _take(self, memory: int | None) -> WorkerProcess:
        """The one used last, so that the others may become superfluous; or a new one."""
        for process in reversed(self._idle):
            if process.memory == memory and process.is_fit:
                self._idle.remove(process)
                return process
        setup = Setup(
            path=[str(entry) or os.getcwd() for entry in sys.path],
            argv=sys.argv,
            folder=os.getcwd(),
            zone=self._settings.timezone,
            max_payload_bytes=self._settings.max_payload_bytes,
        )
        process = WorkerProcess(self._guardian, self, setup, memory, self._settings.grace)
        self._all.add(process)
        return process

    def _tick(self) -> None:
        """Goes on for as long as anything runs or could be ended."""
        for process in self._all:
            process.keep_alive()
        now = self._clock.monotonic()
        surplus = self._idle[: max(0, len(self._idle) - self._warm)]
        for process in surplus:
            if now - process.idle_since >= _LINGER_SECONDS:
                self._idle.remove(process)
                process.stop()
        busy = len(self._all) > len(self._idle) or surplus
        self._timer = asyncio.get_running_loop().call_later(self._tick_seconds, self._tick) if busy else None


class ProcessWork:
    __slots__ = ("_call", "_process")

    def __init__(self, process: WorkerProcess | None, call: Call) -> None:
        self._process, self._call = process, call

    def stop(self, cause: StopCause) -> None:
        if self._process is not None:
            self._process.stop_job(self._call)


def _order(call: Call) -> bytes:
    function = call.task.function
    module, main = function.__module__, main_program(function.__module__)
    return encode(Run(call.desk.job, module, function.__qualname__, main, call.max_result_bytes))


def _not_started(call: Call, error: Exception) -> Outcome:
    if isinstance(error, OSError):
        return Raised(f"no worker process can be started: {error}", FailureType.SESSION_ERROR)
    return failed(call, error)
