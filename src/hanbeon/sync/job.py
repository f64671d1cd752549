"""A handle on a job for code without an event loop."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from hanbeon.domain.job import JobRecord
from hanbeon.job import Job
from hanbeon.sync.background import Background
from hanbeon.sync.services import BlockingJob
from hanbeon.tasks.task import Task

R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")


class SyncJob(BlockingJob, Generic[R_co]):
    """A job by its id, like `Job` but blocking. Every method reads from the database; nothing here goes stale."""

    def __init__(
        self, background: Background, job_id: str, task: Task[..., R_co] | None = None, *, created: bool = True
    ) -> None:
        self._background = background
        self._task = task
        self.id = job_id
        self.created = created
        """False if an earlier job was found by its id, idempotency key or unique key."""

    def wait(self, timeout: float | None = None) -> JobRecord:
        """Wait until the job has ended, in whatever state."""
        return self._wait(lambda job, left: job.wait(left), timeout)

    def result(self, timeout: float | None = None) -> R_co:
        """Wait for the task's return value; raises JobFailed, JobCancelled or ResultNotKept if there is none."""
        result: R_co = self._wait(lambda job, left: job.result(left), timeout)
        return result

    def _wait(self, work: Callable[[Job[Any], float | None], Awaitable[T]], timeout: float | None) -> T:
        ends_at = None if timeout is None else time.monotonic() + timeout

        def wait(owner: Any) -> Awaitable[T]:
            return work(Job(owner, self.id, self._task), ends_at and max(0.0, ends_at - time.monotonic()))

        return self._background.run(wait, patient=True)

    def __repr__(self) -> str:
        return f"<SyncJob {self.id}>"
