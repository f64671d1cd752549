"""What a job is: as it is asked for (`NewJob`) and as it is read back (`JobRecord`)."""

from __future__ import annotations

import enum
import hashlib
import re
import reprlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from hanbeon.domain.lifecycle import AttemptStatus, State
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import InvalidInput, PayloadTooLarge

PRIORITY_MIN, PRIORITY_MAX = -(2**31), 2**31 - 1
RETRIES_MAX = 2**31 - 1
LONGEST_US = 100 * 366 * 86_400 * 1_000_000
LAST_INSTANT_US = 253_402_300_799_999_999  # The end of the year 9999, the last one with an ISO-8601 date.
NAME_LIMIT = 200
DEFAULT_QUEUE = "default"
NO_HANDLER = "(no handler)"
"""Stands for the task of a job that nobody has named one for yet. No task may be called so, and no worker serves it."""
RESERVED = "hanbeon."
"""How the names of built-in tasks begin. No other task may be called so, and nobody asks for jobs of these."""
SESSION_STEP, SESSION_ROOM = 4_294_967_311, 2**48
"""How far apart the sessions of a job are: further than ids that somebody counts up."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class OnDependencyFailure(enum.StrEnum):
    """What a job does when a dependency fails or is cancelled."""

    BLOCK = "block"
    FAIL = "fail"


class OnConflict(enum.StrEnum):
    """What enqueuing does when an unfinished job already holds the unique key."""

    REFUSE = "refuse"
    SKIP = "skip"
    REPLACE_PENDING = "replace_pending"


class NewJob(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A job to be: everything the database needs to know, checked by `validate`."""

    id: str
    task: str
    args: str = "{}"
    queue: str = DEFAULT_QUEUE
    role: str = ""
    concurrency_key: str = ""
    priority: int = 0
    urgent: bool = False
    delay_us: int | None = None
    run_at_us: int | None = None
    depends_on: tuple[str, ...] = ()
    on_dependency_failure: OnDependencyFailure = OnDependencyFailure.BLOCK
    idempotency_key: str | None = None
    unique_key: str | None = None
    on_conflict: OnConflict = OnConflict.REFUSE
    timeout_us: int | None = None
    policy: RetryPolicy = RetryPolicy()
    work_item: str | None = None
    meta: str | None = None

    @property
    def lane(self) -> LaneName:
        return LaneName(self.queue, self.task, self.role, self.concurrency_key)

    @property
    def waits(self) -> bool:
        """Whether it waits for other jobs or for a time, rather than being ready at once."""
        return bool(self.depends_on) or self.delay_us is not None or self.run_at_us is not None

    def digest(self) -> str:
        """Tells two bodies apart when an id or an idempotency key comes again. The id itself is not part of it."""
        return self.digests()(self.args)

    def digests(self) -> Callable[[str], str]:
        """The digest by the arguments, of jobs that are like this one but for those: all else is read once."""
        alike = msgspec.structs.replace(self, id="", args="", on_conflict=OnConflict.REFUSE)
        start = hashlib.blake2b(msgspec.json.encode(alike), digest_size=12).copy

        def digest(args: str) -> str:
            hashing = start()
            hashing.update(args.encode())
            return hashing.hexdigest()

        return digest

    def validate(self, max_payload_bytes: int) -> None:
        """Raise for the first field that does not fit, before anything is written."""
        check_own(self.id, self.args, max_payload_bytes)
        _check_lane(self.task, self.queue, self.role)
        for field in ("concurrency_key", "idempotency_key", "unique_key", "work_item"):
            if name := getattr(self, field):
                check_name(field, name, required=False)
        check_priority(self.priority)
        if self.delay_us is not None and self.delay_us < 0:
            raise InvalidInput("a delay cannot be negative; leave it out to run at once", field="delay")
        if self.run_at_us is not None and not -LONGEST_US <= self.run_at_us <= LAST_INSTANT_US:
            raise InvalidInput("it is not an instant of the years 1870 to 9999", field="run_at")
        if self.timeout_us is not None and self.timeout_us <= 0:
            raise InvalidInput("a timeout must be positive; leave it out for none", field="timeout")
        if not 0 <= self.policy.max_retries <= RETRIES_MAX:
            raise InvalidInput(f"the number of retries must be 0 (for none) to {RETRIES_MAX}", field="retries")
        if self.policy.base_us < 0:
            raise InvalidInput("the delay between retries cannot be negative", field="retry_delay")
        if not 0 <= self.policy.jitter <= 1:
            raise InvalidInput("it is the share by which a delay may grow: 0 to 1", field="retry_jitter")
        for field, span in (
            ("delay", self.delay_us),
            ("timeout", self.timeout_us),
            ("retry_delay", self.policy.base_us),
        ):
            if span is not None and span > LONGEST_US:
                raise InvalidInput("it is longer than a hundred years", field=field)
        if self.id in self.depends_on:
            raise InvalidInput(f"job {self.id} depends on itself; remove that dependency", field="depends_on")
        if self.meta is not None:
            check_size("meta", self.meta, max_payload_bytes)


class LaneName(msgspec.Struct, frozen=True, gc=False):
    """Jobs that are interchangeable for claiming: the same queue, task, role and key, so the same limits."""

    queue: str
    task: str
    role: str
    concurrency_key: str


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job as the database has it. Instants are microseconds since 1970 UTC."""

    seq: int
    id: str
    queue: str
    task: str
    role: str
    concurrency_key: str
    state: State
    args: str
    priority: int
    urgent: bool
    run_at: int
    created_at: int
    started_at: int | None
    deadline_at: int | None
    finished_at: int | None
    stop_requested_at: int | None
    unmet: int
    on_dependency_failure: OnDependencyFailure
    retry_count: int
    timeout_us: int | None
    policy: RetryPolicy
    fence: int
    locked_by: int | None
    locked_until: int | None
    progress: str | None
    result: str | None
    failure_type: str | None
    error_message: str | None
    idempotency_key: str | None
    unique_key: str | None
    work_item: str | None
    meta: str | None
    replaced_by: str | None = None
    """Which job took its unique key, where that ended it."""


def as_made(job: NewJob, *, seq: int, state: State, created_at: int) -> JobRecord:
    """What the database has of a job that was made at this instant to run as soon as it may, and has not ended since.

    All that it waits for was made with it, and none of that is done.
    """
    return JobRecord(
        seq=seq,
        id=job.id,
        queue=job.queue,
        task=job.task,
        role=job.role,
        concurrency_key=job.concurrency_key,
        state=state,
        args=job.args,
        priority=job.priority,
        urgent=job.urgent,
        run_at=created_at,
        created_at=created_at,
        started_at=None,
        deadline_at=None,
        finished_at=None,
        stop_requested_at=None,
        unmet=len(set(job.depends_on)),
        on_dependency_failure=job.on_dependency_failure,
        retry_count=0,
        timeout_us=job.timeout_us,
        policy=job.policy,
        fence=0,
        locked_by=None,
        locked_until=None,
        progress=None,
        result=None,
        failure_type=None,
        error_message=None,
        idempotency_key=job.idempotency_key,
        unique_key=job.unique_key,
        work_item=job.work_item,
        meta=job.meta,
    )


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One try of a job that has ended."""

    job_id: str
    attempt: int
    status: AttemptStatus
    instance: int | None
    started_at: int
    deadline_at: int | None
    ended_at: int
    failure_type: str | None
    message: str | None


class Claimed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A job this instance now holds, with what its body needs."""

    seq: int
    id: str
    fence: int
    queue: str
    task: str
    role: str
    args: str
    retry_count: int
    timeout_us: int | None
    policy: RetryPolicy
    idempotency_key: str | None
    run_at: int
    started_at: int
    progress: str | None
    instance: int


def session_id(job_id: str, fence: int) -> str:
    """What an attempt calls itself towards the world: another for every attempt, the same whoever asks.

    The job's id as a UUID of version 8, with the attempt in its last 48 bits: both databases can say it too, which have
    no SHA-1 for one of version 5.
    """
    end = (int(job_id[24:], 16) + fence * SESSION_STEP) % SESSION_ROOM
    return f"{job_id[:14]}8{job_id[15:24]}{end:012x}"


def is_id(text: Any) -> bool:
    """Whether `text` is a UUID in the one form we store and compare."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


def check_own(job_id: str, args: str, max_payload_bytes: int) -> None:
    """What is to be checked of every job, also of one that is like another but for these."""
    if not is_id(job_id):
        raise InvalidInput(f"{job_id!r} is not a UUID in lower-case text form", field="id")
    check_size("args", args, max_payload_bytes)


def check_priority(priority: int) -> None:
    if not PRIORITY_MIN <= priority <= PRIORITY_MAX:
        raise InvalidInput(
            f"{priority} is out of range; use {PRIORITY_MIN} to {PRIORITY_MAX}, lower runs first", field="priority"
        )


def check_size(field: str, text: str, limit: int) -> None:
    size = len(_storable(field, text))
    if size > limit:
        raise PayloadTooLarge(
            f"{size:,} bytes are over the limit of {limit:,}; store the data elsewhere and pass a reference, "
            "or raise HANBEON_MAX_PAYLOAD_BYTES",
            field=field,
        )


@lru_cache(maxsize=1024)
def _check_lane(task: str, queue: str, role: str) -> None:
    """Remembered: jobs come by the thousand, and theirs are few."""
    check_name("task", task, required=True)
    check_name("queue", queue, required=True)
    check_name("role", role, required=False)


def check_name(field: str, name: str, *, required: bool) -> None:
    if required and not name:
        raise InvalidInput("it must not be empty", field=field)
    if len(name) > NAME_LIMIT:
        raise InvalidInput(f"{len(name)} characters are too long; use at most {NAME_LIMIT}", field=field)
    _storable(field, name)


def check_whole(field: str, value: Any, low: int, high: int = 2**63 - 1) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidInput(f"{reprlib.repr(value)} does not fit; use a whole number, {low} to {high}", field=field)


def _storable(field: str, text: str) -> bytes:
    """The text as UTF-8; PostgreSQL stores neither NUL nor half of a surrogate pair."""
    if "\x00" in text:
        raise InvalidInput("it must not contain a NUL character", field=field)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("it contains half of a surrogate pair, which is not a character", field=field) from error
