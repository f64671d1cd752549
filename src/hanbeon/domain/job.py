"""Jobs: as requested (`NewJob`) and as stored (`JobRecord`)."""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from typing import Any

import msgspec

from hanbeon.domain.lifecycle import AttemptStatus, State
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import InvalidInput, PayloadTooLarge
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

PRIORITY_MIN, PRIORITY_MAX = -(2**31), 2**31 - 1
URGENT_RANKS = 2**32  # More than all priorities.
RETRIES_MAX = 2**31 - 1
LONGEST_US = 100 * 366 * 86_400 * 1_000_000
LAST_INSTANT_US = 253_402_300_799_999_999  # The end of the year 9999, the last one with an ISO-8601 date.
NAME_LIMIT = 200
DEFAULT_QUEUE = "default"
NO_HANDLER = "(no handler)"
"""Placeholder for the task of a job that has none yet. No task may have this name, and no worker serves it."""
RESERVED = "hanbeon."
"""Prefix of the names of built-in tasks. Users can neither register tasks under it nor enqueue jobs of these."""
ON_EVERY_WORKER = ":run"
"""Ending of the name of a surface's one task, whose end has a hook."""
SESSION_STEP, SESSION_ROOM = 4_294_967_311, 2**48
"""The distance between the session ids of a job: greater than that of ids which a user increments."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class OnDependencyFailure(enum.StrEnum):
    """Behaviour of a job when a dependency fails or is cancelled."""

    BLOCK = "block"
    FAIL = "fail"


class OnConflict(enum.StrEnum):
    """Behaviour of enqueuing when an unfinished job already holds the unique key."""

    REFUSE = "refuse"
    SKIP = "skip"
    REPLACE_PENDING = "replace_pending"


class NewJob(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A job to create: all fields that are stored, checked by `validate`."""

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
    expires_us: int | None = None
    """How long after its creation it expires."""
    expires_at_us: int | None = None
    policy: RetryPolicy = RetryPolicy()
    work_item: str | None = None
    meta: str | None = None

    @property
    def lane(self) -> LaneName:
        return LaneName(self.queue, self.task, self.role, self.concurrency_key)

    @property
    def waits(self) -> bool:
        """True if it waits for other jobs or for a time, rather than being ready immediately."""
        return bool(self.depends_on) or self.delay_us is not None or self.run_at_us is not None

    @property
    def expires(self) -> bool:
        return self.expires_us is not None or self.expires_at_us is not None

    def expiry(self, created_at: int) -> int | None:
        """Return the instant by which it must have ended, if there is one."""
        return self.expires_at_us if self.expires_us is None else created_at + self.expires_us

    def validate(self, max_payload_bytes: int) -> None:
        """Raise for the first invalid field, before anything is written."""
        check_own(self.id, self.args, self.meta, max_payload_bytes)
        self.validate_shared()

    def validate_shared(self) -> None:
        """Like `validate`, for all fields but those of `check_own`."""
        _check_lane(self.task, self.queue, self.role)
        check_keys(self.idempotency_key, self.unique_key)
        for field in ("concurrency_key", "work_item"):
            if name := getattr(self, field):
                check_name(field, name, required=False)
        check_priority(self.priority)
        if self.delay_us is not None and self.delay_us < 0:
            raise InvalidInput(Rule("delay_negative"), field="delay")
        if self.run_at_us is not None and not -LONGEST_US <= self.run_at_us <= LAST_INSTANT_US:
            raise InvalidInput(Rule("must_be", what=Rule("instant_in_range")), field="run_at")
        if self.timeout_us is not None and self.timeout_us <= 0:
            raise InvalidInput(Rule("timeout_not_positive"), field="timeout")
        if self.expires_us is not None and self.expires_us <= 0:
            raise InvalidInput(Rule("expires_not_positive"), field="expires")
        if self.expires_at_us is not None and not 0 <= self.expires_at_us <= LAST_INSTANT_US:
            raise InvalidInput(Rule("must_be", what=Rule("instant_in_range")), field="expires")
        if not 0 <= self.policy.max_retries <= RETRIES_MAX:
            raise InvalidInput(
                Rule("must_be", what=Rule("retry_count", high=RETRIES_MAX), got=self.policy.max_retries),
                field="retries",
            )
        if self.policy.base_us < 0:
            raise InvalidInput(Rule("retry_delay_negative"), field="retry_delay")
        if not 0 <= self.policy.jitter <= 1:
            raise InvalidInput(Rule("retry_jitter_range"), field="retry_jitter")
        for field, span in (
            ("delay", self.delay_us),
            ("timeout", self.timeout_us),
            ("expires", self.expires_us),
            ("retry_delay", self.policy.base_us),
        ):
            if span is not None and span > LONGEST_US:
                raise InvalidInput(Rule("must_be", what=Rule("year_range_or_less")), field=field)
        if self.id in self.depends_on:
            raise InvalidInput(Rule("depends_on_itself", id=self.id), field="depends_on")


class LaneName(msgspec.Struct, frozen=True, gc=False):
    """Jobs that are interchangeable for claiming: the same queue, task, role and key, so the same limits."""

    queue: str
    task: str
    role: str
    concurrency_key: str


class Failure(msgspec.Struct, frozen=True):
    """How an attempt failed: its failure type, its message, and if it raised, the exception's class and traceback."""

    type: str
    message: str
    exception: str | None = None
    traceback: str | None = None


OF_EXCEPTION = ("exception", "traceback")
"""The fields of a record that are not in the job's row, and are read with a single job only."""


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
    dispatched_at: int | None = None
    """When its last attempt was sent to the stream workers; while it is ready, it waits for one of them."""
    replaced_by: str | None = None
    """The job that took over its unique key, if that ended it."""
    exception: str | None = None
    traceback: str | None = None
    """Of the exception by which its last attempt ended."""
    expires_at: int | None = None
    """The instant by which it must have ended."""
    expired_fence: int | None = None
    """The attempt that was stopped because it had expired."""

    @property
    def attempt_expired(self) -> bool:
        """True if its last attempt was or is stopped because it had expired."""
        return self.expired_fence is not None and self.expired_fence == self.fence

    @property
    def failure(self) -> Failure | None:
        """How its last attempt failed, if it did."""
        return _failure(self.failure_type, self.error_message, self.exception, self.traceback)


def as_made(job: NewJob, *, seq: int, state: State, created_at: int) -> JobRecord:
    """Return the record of a job that was just created without a delay and has not run since.

    All its dependencies were created with it, and none of them has finished.
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
        expires_at=job.expiry(created_at),
    )


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that has ended."""

    job_id: str
    attempt: int
    status: AttemptStatus
    instance: int | None
    started_at: int
    deadline_at: int | None
    ended_at: int
    failure_type: str | None
    message: str | None
    exception: str | None = None
    traceback: str | None = None
    """Of the exception by which it ended; of many attempts, the latest have it."""

    @property
    def failure(self) -> Failure | None:
        """How it failed, if it did."""
        return _failure(self.failure_type, self.message, self.exception, self.traceback)


def _failure(kind: str | None, message: str | None, exception: str | None, traceback: str | None) -> Failure | None:
    return None if kind is None else Failure(kind, message or "", exception, traceback)


class Claimed(msgspec.Struct, frozen=True, gc=False):
    """A job that this instance now holds, with the fields that its body needs.

    Those up to the policy are the columns that a claim returns, in this order.
    """

    seq: int
    id: str
    fence: int
    lane: int
    args: str
    retry_count: int
    timeout_us: int | None
    idempotency_key: str | None
    run_at: int
    started_at: int
    progress: str | None
    policy: RetryPolicy
    queue: str
    task: str
    role: str
    instance: int
    trace: str | None = None
    """The trace context of who created it; read only while tracing is on."""
    comment: str | None = None
    """The comment of the user who retried it last; read only of jobs that ran before."""


def session_id(job_id: str, fence: int) -> str:
    """Return the public id of an attempt: different for every attempt, and deterministic.

    The job's id as a version 8 UUID, with the attempt in its last 48 bits: both databases can compute it too, which
    have no SHA-1 for version 5.
    """
    end = (int(job_id[24:], 16) + fence * SESSION_STEP) % SESSION_ROOM
    return f"{job_id[:14]}8{job_id[15:24]}{end:012x}"


def is_on_every_worker(task: str) -> bool:
    """True for a built-in task, unless a setting decides which workers have it; such have a `:` in their names."""
    return task.startswith(RESERVED) and (":" not in task or task.endswith(ON_EVERY_WORKER))


def is_id(text: Any) -> bool:
    """True if `text` is a UUID in the one form that is stored and compared."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


def check_own(job_id: str, args: str, meta: str | None, max_payload_bytes: int) -> None:
    """Check the fields that differ between jobs of one kind."""
    if not is_id(job_id):
        raise InvalidInput(Rule("must_be", what=Rule("lower_case_uuid"), got=repr(job_id)), field="id")
    check_size("args", args, max_payload_bytes)
    if meta is not None:
        check_size("meta", meta, max_payload_bytes)


def check_keys(idempotency_key: str | None, unique_key: str | None) -> None:
    if idempotency_key:
        check_name("idempotency_key", idempotency_key, required=False)
    if unique_key:
        check_name("unique_key", unique_key, required=False)


def rank_of(urgent: bool, priority: int) -> int:
    """Return the order of a job in its lane: urgent jobs first, then the lower priority."""
    return priority - URGENT_RANKS if urgent else priority


def check_priority(priority: int) -> None:
    if not PRIORITY_MIN <= priority <= PRIORITY_MAX:
        raise InvalidInput(
            Rule("priority_range", low=PRIORITY_MIN, high=PRIORITY_MAX, got=priority),
            field="priority",
        )


def check_size(field: str, text: str, limit: int) -> None:
    size = len(_storable(field, text))
    if size > limit:
        raise PayloadTooLarge(
            Rule("payload_too_large", most=limit, got=size),
            field=field,
        )


@lru_cache(maxsize=1024)
def _check_lane(task: str, queue: str, role: str) -> None:
    """Check the names of a lane. Cached: thousands of jobs share few lanes."""
    check_name("task", task, required=True)
    check_name("queue", queue, required=True)
    check_name("role", role, required=False)


def check_name(field: str, name: str, *, required: bool) -> None:
    if required and not name:
        raise InvalidInput(Rule("not_empty"), field=field)
    if len(name) > NAME_LIMIT:
        raise InvalidInput(
            Rule("must_be", what=Rule("characters_at_most", high=NAME_LIMIT), got=len(name)), field=field
        )
    _storable(field, name)


def check_text(field: str, text: Any, most: int) -> None:
    """Check a text that a person writes: not empty, and of a bounded length."""
    if not isinstance(text, str) or not 1 <= len(text) <= most:
        what = Rule("storable_string_from_to", low=1, high=most)
        raise InvalidInput(Rule("must_be", what=what, got=quoted(text)), field=field)
    _storable(field, text)


def check_whole(field: str, value: Any, low: int, high: int = 2**63 - 1) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidInput(
            Rule("must_be", what=Rule("integer_from_to", low=low, high=high), got=quoted(value)), field=field
        )


def _storable(field: str, text: str) -> bytes:
    """Return the text as UTF-8; PostgreSQL stores neither NUL nor half of a surrogate pair."""
    if "\x00" in text:
        raise InvalidInput(Rule("no_nul"), field=field)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(Rule("no_surrogate"), field=field) from error
