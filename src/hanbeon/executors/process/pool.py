"""The pool of worker processes: no job waits for long, and short jobs share the warm processes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator

from hanbeon.domain.outcome import Raised
from hanbeon.domain.retry import FailureType
from hanbeon.executors.executor import Call, Done, failed
from hanbeon.executors.process.worker import WorkerProcess

# A process more than is kept is not ended at once: the next batch of jobs may want it.
_LINGER_SECONDS = 5.0
# Where all are busy, a job waits for one to become free. If none does, they are at long jobs, and more are started;
# but those that are just starting are waited for first: more of them would only take each other's time.
_STALL_SECONDS = 0.2
_STARTING_SECONDS = 5.0


def not_started(error: OSError) -> Raised:
    """A full process table, or too many open files."""
    return Raised(f"no worker process can be started: {error}", FailureType.SESSION_ERROR)


class PendingStart:
    """A job and, once it has one, its process."""

    __slots__ = ("call", "done", "has_waited", "process", "request")

    def __init__(self, call: Call, request: bytes, done: Done) -> None:
        self.call, self.request, self.done = call, request, done
        self.process: WorkerProcess | None = None
        self.has_waited = False


class ProcessPool:
    """`make` starts a process with a limit of memory; `warm` is how many are kept, and used before there are more."""

    def __init__(
        self, make: Callable[[int | None], WorkerProcess], now: Callable[[], float], *, warm: int, jobs: int
    ) -> None:
        self._make, self._now, self._warm, self._jobs = make, now, warm, jobs
        self.all: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []
        self._waiting: deque[PendingStart] = deque()
        self._moved_at: dict[int | None, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        return len(self.all) > len(self._idle) or len(self._idle) > self._warm

    def run(self, call: Call, request: bytes, done: Done) -> PendingStart:
        """Start it in a process, or let it wait for one. OSError if there is none and can be none."""
        job = PendingStart(call, request, done)
        process = self._idle_one(call.task.memory) or self._another(call.task.memory)
        if process is not None:
            self._begin(job, process)
        else:
            self._waiting.append(job)
            self._schedule_check()
        return job

    def forget(self, job: PendingStart) -> bool:
        """Drop a job that has not begun; return False if it has."""
        if job.process is None and job in self._waiting:
            self._waiting.remove(job)
            return True
        return False

    def freed(self, process: WorkerProcess) -> bool:
        """Give a free process the next job, or replace it after its last; return True if it is idle now."""
        self._moved_at[process.memory] = now = self._now()
        if process.jobs >= self._jobs:
            process.stop()
            self._replace(process.memory)
            return False
        for job in self._waiting:
            if job.call.task.memory == process.memory:
                self._waiting.remove(job)
                try:
                    self._begin(job, process)
                except Exception as error:
                    process.stop()
                    job.done(failed(error))
                return False
        process.idle_since = now
        self._idle.append(process)
        return True

    def ended(self, process: WorkerProcess) -> None:
        self.all.discard(process)
        if process in self._idle:
            self._idle.remove(process)
        self._replace(process.memory)

    def end_surplus(self) -> None:
        """End processes beyond the warm ones that have been idle for a while."""
        for process in self._idle[: max(0, len(self._idle) - self._warm)]:
            if self._now() - process.idle_since >= _LINGER_SECONDS:
                self._idle.remove(process)
                process.stop()

    def close(self) -> None:
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self, job: PendingStart, process: WorkerProcess) -> None:
        job.process = process
        process.run(job.call, job.request, job.done, has_waited=job.has_waited)

    def _idle_one(self, memory: int | None) -> WorkerProcess | None:
        """Return the one used last, so that the others may become superfluous."""
        for process in reversed(self._idle):
            if process.memory == memory and process.is_fit:
                self._idle.remove(process)
                return process
        return None

    def _another(self, memory: int | None) -> WorkerProcess | None:
        """Start a new one if there are fewer of its kind than are kept warm."""
        return self._start(memory) if sum(1 for _ in self._fit(memory)) < self._warm else None

    def _start(self, memory: int | None) -> WorkerProcess:
        process = self._make(memory)
        self.all.add(process)
        self._moved_at[memory] = self._now()
        return process

    def _fit(self, memory: int | None) -> Iterator[WorkerProcess]:
        return (process for process in self.all if process.memory == memory and process.is_fit)

    def _replace(self, memory: int | None) -> None:
        """Start another if jobs may have waited for the one that ends."""
        if not self._is_closed and sum(1 for _ in self._fit(memory)) < self._warm:
            self._grow(memory, 1)

    def _schedule_check(self) -> None:
        if self._timer is None and self._waiting:
            self._timer = asyncio.get_running_loop().call_later(_STALL_SECONDS, self._check)

    def _check(self) -> None:
        """Double the processes where none becomes free: one by one would take too long, and all at once too much."""
        self._timer = None
        for job in self._waiting:
            if not job.has_waited:
                job.has_waited = True
                job.call.backend.awaits_begin()
        for memory in {job.call.task.memory for job in self._waiting}:
            fit = list(self._fit(memory))
            stall = _STARTING_SECONDS if any(process.is_starting for process in fit) else _STALL_SECONDS
            if not fit or self._now() - self._moved_at.get(memory, 0.0) >= stall:
                self._grow(memory, max(1, len(fit)))
        self._schedule_check()

    def _grow(self, memory: int | None, most: int) -> None:
        """Each new process is for the job that has waited longest."""
        for job in [each for each in self._waiting if each.call.task.memory == memory][:most]:
            self._waiting.remove(job)
            try:
                self._begin(job, self._start(memory))
            except OSError as error:
                job.done(not_started(error))
            except Exception as error:
                job.done(failed(error))
