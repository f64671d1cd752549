"""Bodies that are plain functions, each in a process that is killed when it must stop."""

from __future__ import annotations

import asyncio
import os
import sys

from hanbeon.clock import Clock
from hanbeon.domain.outcome import Raised
from hanbeon.domain.retry import FailureType
from hanbeon.domain.trace_context import current_trace
from hanbeon.executors.executor import Call, Done, StopCause, Work, failed, never, time_limits
from hanbeon.executors.process.messages import RunJob, Setup, encode, limit, main_program
from hanbeon.executors.process.pool import PendingStart, ProcessPool, not_started
from hanbeon.executors.process.worker import WorkerProcess
from hanbeon.executors.supervisor.wire import TooLong, check_length
from hanbeon.executors.supervisor_client import SupervisorClient
from hanbeon.settings import Settings
from hanbeon.tasks.task import PROCESS


class ProcessExecutor:
    """Really stops: SIGTERM, the grace, SIGKILL, and `done` when nothing of the work is left."""

    name = PROCESS
    offers_transactions = False
    start_seconds = 60.0

    def __init__(self, settings: Settings, clock: Clock, supervisor: SupervisorClient) -> None:
        self._settings, self._clock, self._supervisor = settings, clock, supervisor
        self._timing = time_limits(settings)
        self.stop_seconds = self._timing.stop
        warm = settings.processes or len(os.sched_getaffinity(0))
        self._pool = ProcessPool(self._make, clock.monotonic, warm=warm, jobs=settings.jobs_per_process)
        self._timer: asyncio.TimerHandle | None = None

    def start(self, call: Call, done: Done) -> Work:
        try:
            request = _request(call)
            check_length(request, limit(self._settings.max_payload_bytes))
            job = self._pool.run(call, request, done)
        except TooLong as error:
            return never(done, Raised(f"the job cannot be sent to a worker process: {error}", FailureType.INVALID))
        except OSError as error:
            return never(done, not_started(error))
        except Exception as error:
            return never(done, failed(error))
        if self._timer is None:
            self._tick()
        return ProcessWork(self._pool, job)

    async def close(self) -> None:
        """Kill what runs. Returns when nothing is left of any process."""
        if self._timer is not None:
            self._timer.cancel()
        self._pool.close()
        await self._supervisor.close()

    @property
    def processes(self) -> list[int]:
        return [process.pid for process in self._pool.all if process.pid is not None]

    # The interface for its processes

    def now(self) -> float:
        return self._clock.monotonic()

    def freed(self, process: WorkerProcess) -> bool:
        return self._pool.freed(process)

    def ended(self, process: WorkerProcess) -> None:
        self._pool.ended(process)

    def _make(self, memory: int | None) -> WorkerProcess:
        setup = Setup(
            path=[str(entry) or os.getcwd() for entry in sys.path],
            argv=sys.argv,
            folder=os.getcwd(),
            zone=None if self._settings.zone_of_naive is None else self._settings.timezone,
            max_payload_bytes=self._settings.max_payload_bytes,
            capture=self._settings.captures_output,
        )
        return WorkerProcess(self._supervisor, self, setup, memory, self._timing.grace)

    def _tick(self) -> None:
        """Repeats for as long as anything runs or could be ended."""
        for process in self._pool.all:
            process.keep_alive()
        busy = self._pool.is_busy
        self._pool.end_surplus()
        self._timer = asyncio.get_running_loop().call_later(self._timing.tick, self._tick) if busy else None


class ProcessWork:
    __slots__ = ("_job", "_pool")

    def __init__(self, pool: ProcessPool, job: PendingStart) -> None:
        self._pool, self._job = pool, job

    def stop(self, cause: StopCause) -> None:
        if self._pool.forget(self._job):
            asyncio.get_running_loop().call_soon(self._job.done, None)
        elif self._job.process is not None:
            self._job.process.stop_job(self._job.call)

    def escalate(self) -> None:
        if self._job.process is not None:
            self._job.process.escalate(self._job.call)


def _request(call: Call) -> bytes:
    function = call.task.function
    module, main = function.__module__, main_program(function.__module__)
    trace = current_trace()
    text = None if trace is None else trace.text
    request = RunJob(
        call.backend.job,
        module,
        function.__qualname__,
        main,
        call.max_result_bytes,
        text,
        call.task.retried,
        call.task.options.keep_result,
        call.task.options.soft_timeout,
    )
    return encode(request)
