"""A handle on a job for code without an event loop."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from hanbeon.domain.job import AttemptRecord, JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log import LogPage
from hanbeon.job import Job
from hanbeon.sync.background import Background
from hanbeon.tasks.task import Task

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class SyncJob(Generic[R_co]):
    """A job by its id, like `Job` but blocking. Every method reads from the database; nothing here goes stale."""

    def __init__(
        self, background: Background, job_id: str, task: Task[..., R_co] | None = None, *, created: bool = True
    ) -> None:
        self._background = background
        self._task = task
        self.id = job_id
        self.created = created
        """False if an earlier job was found by its id, idempotency key or unique key."""

    def record(self) -> JobRecord:
        """The job as the database has it now."""
        return self._run(lambda job: job.record())

    def state(self) -> State:
        """Its current state."""
        return self._run(lambda job: job.state())

    def attempts(self) -> list[AttemptRecord]:
        """The attempts that have ended, in order."""
        return self._run(lambda job: job.attempts())

    def log(self, *, attempt: int | None = None, after: str | None = None, limit: int = 1_000) -> LogPage:
        """Return up to `limit` lines of its log, of one attempt or of all; also while it runs."""
        return self._run(lambda job: job.log(attempt=attempt, after=after, limit=limit))

    def blocked_by(self) -> list[str]:
        """Ids of the failed or cancelled jobs that it waits for."""
        return self._run(lambda job: job.blocked_by())

    def cancel(self) -> State:
        """Cancel it; `running` means that its work is being stopped."""
        return self._run(lambda job: job.cancel())

    def wait(self, timeout: float | None = None) -> JobRecord:
        """Wait until the job has ended, in whatever state."""
        return self._wait(lambda job, left: job.wait(left), timeout)

    def result(self, timeout: float | None = None) -> R_co:
        """Wait for the task's return value; raises JobFailed or JobCancelled if there is none."""
        result: R_co = self._wait(lambda job, left: job.result(left), timeout)
        return result

    def _run(self, work: Callable[[Job[Any]], Awaitable[T]]) -> T:
        return self._background.run(lambda app: work(Job(app, self.id, self._task)))

    def _wait(self, work: Callable[[Job[Any], float | None], Awaitable[T]], timeout: float | None) -> T:
        ends_at = None if timeout is None else time.monotonic() + timeout

        def wait(owner: Any) -> Awaitable[T]:
            return work(Job(owner, self.id, self._task), ends_at and max(0.0, ends_at - time.monotonic()))

        return self._background.run(wait, patient=True)

    def __repr__(self) -> str:
        return f"<SyncJob {self.id}>"
