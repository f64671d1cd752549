"""A request for a job: a task, checked arguments, and options by name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, Unpack
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.domain.job import NewJob, OnConflict, OnDependencyFailure, is_id
from hanbeon.domain.reserved_queues import check_not_reserved
from hanbeon.errors import InvalidInput
from hanbeon.ids import new_id
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.options import check_kinds, check_names, duration_us, kinds_of
from hanbeon.zones import check_not_naive

if TYPE_CHECKING:
    from hanbeon.tasks.keywords import JobOptionFields
    from hanbeon.tasks.task import Task

R_co = TypeVar("R_co", covariant=True)


class HasId(Protocol):
    """A job, or a request for one."""

    @property
    def id(self) -> str: ...


class JobOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of one job; None takes the task's. Durations are in seconds."""

    id: str = msgspec.field(default_factory=new_id)
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
    expires: float | dt.timedelta | dt.datetime | None = None
    retries: int | None = None
    work_item: str | None = None


_KINDS = kinds_of(JobOptions)
OPTIONS = frozenset(_KINDS)


class JobRequest(JobOptions, Generic[R_co], frozen=True, kw_only=True):
    """One job to be enqueued. Its id exists already, so that others of the same batch can depend on it."""

    task: Task[..., R_co]
    args: str

    def set(self, **given: Unpack[JobOptionFields]) -> JobRequest[R_co]:
        """Return this request with other options; `after` adds dependencies."""
        options: dict[str, Any] = dict(given)  # Untyped callers may give other names.
        after = options.pop("after", ())
        if "args" in options:
            raise InvalidInput(Rule("arguments_in_call"), field="args")
        check_names(options, OPTIONS, "a job")
        if after:
            options["depends_on"] = (*ids_of(options.get("depends_on", self.depends_on)), *ids_of(after))
        elif "depends_on" in options:
            options["depends_on"] = ids_of(options["depends_on"])
        options = check_kinds(_KINDS, options)
        return msgspec.structs.replace(self, **options)

    def to_new_job(self, zone: ZoneInfo | None, within: str | None = None) -> NewJob:
        """Build the job for the store; naive times are in `zone`, or rejected without one.

        `within`: the queue of the parent job, which exists as long as that job does, even if a surface owns it.
        """
        options = self.task.options
        if self.delay is not None and self.run_at is not None:
            raise InvalidInput(Rule("run_at_with_delay"), field="run_at")
        timeout = options.timeout if self.timeout is None else self.timeout
        expires = options.expires if self.expires is None else self.expires
        expires_at = expires if isinstance(expires, dt.datetime) else None
        role = options.role if self.role is None else self.role
        self.task.check_role(role)
        queue = options.queue if self.queue is None else self.queue
        if queue != within:
            check_not_reserved(queue)
        return NewJob(
            id=self.id,
            task=self.task.name,
            args=self.args,
            queue=queue,
            role=role,
            concurrency_key=self.concurrency_key,
            priority=options.priority if self.priority is None else self.priority,
            urgent=self.urgent,
            delay_us=None if self.delay is None else duration_us(self.delay, "delay"),
            run_at_us=None if self.run_at is None else instant_us(self.run_at, zone),
            depends_on=self.depends_on and tuple(dict.fromkeys(self.depends_on)),
            on_dependency_failure=_choice(OnDependencyFailure, self.on_dependency_failure, "on_dependency_failure"),
            idempotency_key=self.idempotency_key,
            unique_key=self.unique_key,
            on_conflict=_choice(OnConflict, self.on_conflict, "on_conflict"),
            timeout_us=None if timeout is None else duration_us(timeout, "timeout"),
            expires_us=None if expires is None or isinstance(expires, dt.datetime) else duration_us(expires, "expires"),
            expires_at_us=None if expires_at is None else instant_us(expires_at, zone, "expires"),
            policy=options.policy(self.retries),
            work_item=self.work_item,
        )


def ids_of(jobs: Iterable[HasId | str]) -> tuple[str, ...]:
    """Return the ids of jobs, requests or ids; anything else is rejected."""
    if isinstance(jobs, str) or not isinstance(jobs, Iterable):
        raise InvalidInput(Rule("must_be", what=Rule("job_list"), got=quoted(jobs)), field="depends_on")
    return tuple(_id_of(job) for job in jobs)


def _id_of(job: HasId | str) -> str:
    job_id: str | None = job if isinstance(job, str) else getattr(job, "id", None)
    if job_id is None or not is_id(job_id):
        raise InvalidInput(Rule("only_jobs", got=quoted(job)), field="depends_on")
    return job_id


def instant_us(moment: dt.datetime, zone: ZoneInfo | None, field: str = "run_at") -> int:
    """Return an instant of the database; a naive moment is in `zone`, or rejected without one."""
    check_not_naive(moment, zone, field)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


C = TypeVar("C", OnDependencyFailure, OnConflict)


def _choice(kind: type[C], value: str, field: str) -> C:
    if isinstance(value, kind):
        return value
    try:
        return kind(value)
    except ValueError:
        raise InvalidInput(Rule("must_be", what=Rule("one_of", choices=kind), got=quoted(value)), field=field) from None
