"""A job as a caller asks for it: a task, checked arguments, and options by name."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from zoneinfo import ZoneInfo

import uuid_utils

from hanbeon.domain.job import NewJob, OnConflict, OnDependencyFailure, is_id
from hanbeon.errors import InvalidInput

if TYPE_CHECKING:
    from hanbeon.tasks.task import Task

R = TypeVar("R")
_LONGEST_SECONDS = 1_000_000_000_000


class HasId(Protocol):
    """A job, or a request for one."""

    @property
    def id(self) -> str: ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobRequest(Generic[R]):
    """One job to be enqueued. Its id exists already, so that others of the same batch can depend on it."""

    task: Task[..., R]
    args: str
    id: str = dataclasses.field(default_factory=lambda: str(uuid_utils.uuid7()))
    queue: str | None = None
    role: str | None = None
    concurrency_key: str = ""
    priority: int | None = None
    urgent: bool = False
    delay: float | dt.timedelta | None = None
    run_at: dt.datetime | None = None
    depends_on: tuple[str, ...] = ()
    on_dependency_failure: str = OnDependencyFailure.BLOCK
    idempotency_key: str | None = None
    unique_key: str | None = None
    on_conflict: str = OnConflict.REFUSE
    timeout: float | None = None
    retries: int | None = None
    work_item: str | None = None

    def set(self, *, after: Iterable[HasId | str] = (), **options: Any) -> JobRequest[R]:
        """The same request with other options; `after` adds dependencies."""
        if after:
            options["depends_on"] = (*ids_of(options.get("depends_on", self.depends_on)), *ids_of(after))
        elif "depends_on" in options:
            options["depends_on"] = ids_of(options["depends_on"])
        try:
            return dataclasses.replace(self, **options)
        except TypeError as error:
            raise InvalidInput(f"{error}; jobs take {', '.join(sorted(OPTIONS))}") from error

    def to_new_job(self, zone: ZoneInfo) -> NewJob:
        """What the store is asked for; naive times are read in `zone`."""
        options = self.task.options
        if self.delay is not None and self.run_at is not None:
            raise InvalidInput("give a delay or a run_at, not both", field="run_at")
        timeout = options.timeout if self.timeout is None else self.timeout
        return NewJob(
            id=self.id,
            task=self.task.name,
            args=self.args,
            queue=self.queue or options.queue,
            role=options.role if self.role is None else self.role,
            concurrency_key=self.concurrency_key,
            priority=options.priority if self.priority is None else self.priority,
            urgent=self.urgent,
            delay_us=None if self.delay is None else _micros(self.delay),
            run_at_us=None if self.run_at is None else instant_us(self.run_at, zone),
            depends_on=tuple(dict.fromkeys(self.depends_on)),
            on_dependency_failure=_choice(OnDependencyFailure, self.on_dependency_failure, "on_dependency_failure"),
            idempotency_key=self.idempotency_key,
            unique_key=self.unique_key,
            on_conflict=_choice(OnConflict, self.on_conflict, "on_conflict"),
            timeout_us=None if timeout is None else _micros(timeout),
            policy=options.policy(self.retries),
            work_item=self.work_item,
        )


OPTIONS = {field.name for field in dataclasses.fields(JobRequest)} - {"task", "args"}


def ids_of(jobs: Iterable[HasId | str]) -> tuple[str, ...]:
    """Ids of jobs, requests or ids; anything else is refused."""
    if isinstance(jobs, str):
        raise InvalidInput("give a list of jobs, not one text", field="depends_on")
    found = tuple(job if isinstance(job, str) else job.id for job in jobs)
    for job_id in found:
        if not is_id(job_id):
            raise InvalidInput(f"{job_id!r} is not a job's id", field="depends_on")
    return found


def instant_us(moment: dt.datetime, zone: ZoneInfo) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return _micros(moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC))


def _micros(duration: float | dt.timedelta) -> int:
    if isinstance(duration, dt.timedelta):
        return duration // dt.timedelta(microseconds=1)
    if not abs(duration) < _LONGEST_SECONDS:  # Also refuses NaN.
        raise InvalidInput(f"{duration} seconds is not a duration a clock can count", field="delay")
    return round(duration * 1_000_000)


C = TypeVar("C", OnDependencyFailure, OnConflict)


def _choice(kind: type[C], value: str, field: str) -> C:
    try:
        return kind(value)
    except ValueError:
        raise InvalidInput(f"{value!r} is not one of {', '.join(kind)}", field=field) from None
