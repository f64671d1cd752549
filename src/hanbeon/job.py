"""A handle on a job, as `enqueue` returns it."""

from __future__ import annotations

import asyncio
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from hanbeon.domain.job import AttemptRecord, JobRecord
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.log import LogPage, LogPosition, check_log_range
from hanbeon.errors import JobCancelled, JobFailed, ResultNotKept, WaitTimeout
from hanbeon.events.hub import Hub
from hanbeon.store.operations import queries
from hanbeon.store.operations.logs import read_log
from hanbeon.store.operations.queries import attempts_of
from hanbeon.store.store import Store
from hanbeon.tasks.task import Task
from hanbeon.wait import until

R_co = TypeVar("R_co", covariant=True)


class Owner(Protocol):
    """The part of the App that a handle uses."""

    @property
    def store(self) -> Store: ...

    @property
    def hub(self) -> Hub: ...


class Job(Generic[R_co]):
    """A job by its id. Every method reads from the database; nothing here goes stale."""

    def __init__(self, owner: Owner, job_id: str, task: Task[..., R_co] | None = None, *, created: bool = True) -> None:
        self._owner = owner
        self._task = task
        self.id = job_id
        self.created = created
        """False if an earlier job was found by its id, idempotency key or unique key."""

    async def record(self) -> JobRecord:
        """The job as the database has it now."""
        return await self._owner.store.job(self.id)

    async def state(self) -> State:
        """Its current state."""
        return (await self.record()).state

    async def attempts(self) -> list[AttemptRecord]:
        """The attempts that have ended, in order."""
        found = await self._owner.store.read(lambda tx: attempts_of(tx, self.id))
        if not found:
            await self.record()  # Raises if there is no such job.
        return found

    async def log(self, *, attempt: int | None = None, after: str | None = None, limit: int = 1_000) -> LogPage:
        """Return up to `limit` lines of its log, of one attempt or of all; also while it runs.

        Continue with `after=page.after`: at once if `page.more` is true, and later to follow the log.
        """
        check_log_range(attempt, limit)
        position = LogPosition() if after is None else LogPosition.parse(after)
        return await self._owner.store.read(lambda tx: read_log(tx, self.id, attempt, position, limit))

    async def blocked_by(self) -> list[str]:
        """Ids of the failed or cancelled jobs that it waits for."""
        dependencies = await self._owner.store.read(lambda tx: queries.dependencies_of(tx, self.id))
        if not dependencies:
            await self.record()  # Raises if there is no such job.
        return [dep.id for dep in dependencies if dep.state in (State.FAILED, State.CANCELLED)]

    async def cancel(self) -> State:
        """Cancel it; `running` means that its work is being stopped."""
        return await self._owner.store.cancel(self.id)

    async def wait(self, timeout: float | None = None) -> JobRecord:
        """Wait until the job has ended, in whatever state."""
        try:
            async with asyncio.timeout(timeout):
                return await until(self.record, lambda job: job.state in TERMINAL, self._owner.hub.hints)
        except TimeoutError:
            raise WaitTimeout(f"job {self.id} has not finished within {timeout} s; it continues") from None

    async def result(self, timeout: float | None = None) -> R_co:
        """Wait for the task's return value; raises JobFailed, JobCancelled or ResultNotKept if there is none."""
        record = await self.wait(timeout)
        if record.state is State.FAILED:
            raise JobFailed(
                self.id,
                record.failure_type or "error",
                record.error_message or "",
                exception=record.exception,
                traceback=record.traceback,
            )
        if record.state is State.CANCELLED:
            raise JobCancelled(self.id)
        if (text := record.result) is None:
            raise ResultNotKept(self.id, record.task)
        result: Any = self._task.signature.read_result(text) if self._task else msgspec.json.decode(text)
        return result  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<Job {self.id}>"
