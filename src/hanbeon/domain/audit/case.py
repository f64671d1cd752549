"""Consistency of one job: its rows against each other, and the rest of them, as a record, against its events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.audit.findings import EngineInvariant, Finding, Severity
from hanbeon.domain.audit.history import Bounds
from hanbeon.domain.audit.moves import STATE_NUMBERS, STATES, Trace, id_bytes, id_text
from hanbeon.domain.lifecycle import TERMINAL, AttemptStatus, State

STUCK_AFTER_US = 60 * 1_000_000


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a job's row that an audit needs. No queue: its lane is gone, and readers do not see it."""

    seq: int
    id: str
    has_id: bool = True
    queue: str | None
    lane: int
    state: State
    unmet: int
    blocked: bool = False
    recount: bool = False
    fence: int
    created_at: int
    run_at: int
    started_at: int | None
    locked_until: int | None
    dispatched_at: int | None = None
    unique_key: str | None = None
    """Only that of an unfinished job, which alone holds it."""
    idempotency_key: str | None = None
    ended_by_no_attempt: bool = False
    """It has succeeded, and its last attempt did not."""
    marked_done: bool = False
    """A user marked it as done."""
    expires_at: int | None = None
    """Unless it has been looked at."""


class AttemptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt's row."""

    attempt: int
    status: AttemptStatus
    started_at: int
    ended_at: int


class DependencyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An edge and the job that it leads to, which may be gone."""

    dependency: int
    id: str | None
    state: State | None
    finished_at: int | None


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of a job. Attempts are in the order of their numbers."""

    job: JobFacts
    attempts: Sequence[AttemptFacts] = ()
    dependencies: Sequence[DependencyFacts] = ()

    @property
    def held(self) -> int | None:
        """The number of the attempt that runs now."""
        return self.job.fence if self.job.state is State.RUNNING else None

    @property
    def first_start(self) -> int | None:
        starts = [attempt.started_at for attempt in self.attempts]
        if self.held is not None and self.job.started_at is not None:
            starts.append(self.job.started_at)
        return min(starts, default=None)


def audit_case(case: Case, now: int) -> Iterator[Finding]:
    """Yield every inconsistency between the rows of one job."""
    job = case.job
    if not job.has_id:
        message = "its id does not lead to it: it can neither be seen nor looked up"
        yield _found(case, EngineInvariant.FOUND_BY_ID, message)
    if job.queue is None:
        message = "its lane or queue is gone: it can neither be seen nor claimed"
        yield _found(case, EngineInvariant.HAS_LANE, message)
    if case.attempts:
        yield from _check_attempts(case)
    if case.dependencies or job.unmet or job.blocked:
        yield from _check_dependencies(case)
    if job.ended_by_no_attempt and not job.marked_done:
        message = "it has succeeded, though no attempt did and no user marked it as done"
        yield _found(case, EngineInvariant.SUCCESS_BY_ATTEMPT, message, *case.attempts)
    if job.state is State.PENDING or job.state is State.RUNNING:
        yield from _check_progress(case, now)


def _check_attempts(case: Case) -> Iterator[Finding]:
    rows = {attempt.attempt for attempt in case.attempts}
    if case.job.fence < case.attempts[-1].attempt:
        message = f"its fence is {case.job.fence}, less than its attempt {max(rows)}"
        yield _found(case, EngineInvariant.FENCE_AHEAD, message, *case.attempts)
    if len(rows) < len(case.attempts):
        # A job that has ended is the record of its last attempt; the others are written apart.
        yield _found(case, EngineInvariant.ENDS_ONCE, "an attempt has ended twice", *case.attempts)
    if case.held in rows:
        message = f"attempt {case.held} has ended and still runs"
        yield _found(case, EngineInvariant.RUNNING_OPEN, message, *case.attempts)
    yield from _check_overlaps(case)


def _check_overlaps(case: Case) -> Iterator[Finding]:
    """Check that every attempt begins no earlier than its predecessor ended."""
    before: AttemptFacts | None = None
    for attempt in case.attempts:
        if attempt.ended_at < attempt.started_at:
            message = f"attempt {attempt.attempt} ended before it started"
            yield _found(case, EngineInvariant.ENDS_AFTER_START, message, attempt)
        if before is not None and attempt.started_at < before.ended_at:
            message = f"attempt {attempt.attempt} started before attempt {before.attempt} had ended"
            yield _found(case, EngineInvariant.ONE_AT_A_TIME, message, before, attempt)
        before = attempt
    started_at = case.job.started_at
    if before is not None and case.held is not None and started_at is not None and started_at < before.ended_at:
        message = f"attempt {case.held}, which runs, started before attempt {before.attempt} had ended"
        yield _found(case, EngineInvariant.RUNS_ALONE, message, before)


def _check_dependencies(case: Case) -> Iterator[Finding]:
    job, first_start = case.job, case.first_start
    waiting = [dependency for dependency in case.dependencies if dependency.state is not State.SUCCEEDED]
    for dependency in case.dependencies:
        if dependency.id is None:
            message = f"it depends on job #{dependency.dependency}, which is gone"
            yield _found(case, EngineInvariant.DEPENDENCY_KEPT, message)
        elif first_start is None:
            continue
        elif dependency.state is not State.SUCCEEDED:
            message = f"it ran, though job {dependency.id}, on which it depends, is {dependency.state}"
            yield _found(case, EngineInvariant.DEPENDENCY_SUCCEEDED, message, dependency)
        elif dependency.finished_at is not None and first_start < dependency.finished_at:
            message = f"it started before job {dependency.id}, on which it depends, had succeeded"
            yield _found(case, EngineInvariant.DEPENDENCY_FIRST, message, dependency)
    # A finished job's dependencies may have been pruned before it; those of an unfinished one are kept.
    # One from a caller's transaction may count some that ended before the commit, until it is counted again.
    may_be_high = job.recount or job.state in TERMINAL
    wrong = job.unmet < len(waiting) if may_be_high else job.unmet != len(waiting)
    if wrong:
        message = f"it waits for {job.unmet} jobs, but {len(waiting)} of its dependencies have not succeeded"
        yield _found(case, EngineInvariant.WAITS_FOR_AS_MANY, message, *case.dependencies)
    elif job.blocked != (job.unmet > 0):
        message = f"it waits for {job.unmet} jobs, but is {'blocked' if job.blocked else 'not blocked'}"
        yield _found(case, EngineInvariant.BLOCKED_WHILE_WAITING, message)


def _check_progress(case: Case, now: int) -> Iterator[Finding]:
    job, long_ago = case.job, now - STUCK_AFTER_US
    waits = any(dependency.state is not State.SUCCEEDED for dependency in case.dependencies)
    free = not waits if job.recount else not job.blocked
    if job.state is State.PENDING and free and job.run_at < long_ago:
        yield _warned(case, EngineInvariant.PROMOTED, "it is due and waits for nothing, but no instance promotes it")
    if job.state is State.RUNNING and job.locked_until is not None and job.locked_until < long_ago:
        yield _warned(case, EngineInvariant.RECOVERED, "its lease has expired, but no instance recovers it")
    if job.state not in TERMINAL and job.expires_at is not None and job.expires_at < long_ago:
        yield _warned(case, EngineInvariant.EXPIRED, "it has expired, but no instance ends it")


def _found(case: Case, rule: EngineInvariant, message: str, *rows: msgspec.Struct) -> Finding:
    shown: list[dict[str, Any]] = [msgspec.to_builtins(row) for row in (case.job, *rows)]
    return rule.broken(message, job_id=case.job.id, queue=case.job.queue, rows=tuple(shown))


def _warned(case: Case, rule: EngineInvariant, message: str) -> Finding:
    return msgspec.structs.replace(_found(case, rule, message), severity=Severity.WARNING)


class RanAttempt(NamedTuple):
    """An attempt that has ended, as a part of a job's record."""

    attempt: int
    started_at: int
    ended_at: int
    status: AttemptStatus


class JobRecord(NamedTuple):
    """The fields of a job that its events decide; `started_at` is that of the attempt that runs or waits for a worker.

    `held`: the attempt that runs now. `waits`: one was sent to stream workers and none has begun; it takes a slot.
    """

    id: bytes
    seq: int
    state_number: int
    held: bool
    waits: bool
    fence: int
    created_at: int
    started_at: int | None
    queue: int
    lane: int
    attempts: tuple[RanAttempt, ...]


_JOB = Struct("<16sqBBqqqqqI")
_ATTEMPT = Struct("<qqqB")
_HELD, _WAITS = 1, 2
_STATUSES = tuple(AttemptStatus)
_STATUS_NUMBERS = {status: number for number, status in enumerate(_STATUSES)}
_UNKNOWN = -(2**63)


def pack_job(case: Case, queue: int) -> bytes:
    """Return a job as a record; `queue` stands for its queue, 0 for none."""
    job = case.job
    held = job.state is State.RUNNING
    waits = job.state is State.READY and job.dispatched_at is not None
    started_at = job.dispatched_at if waits else job.started_at
    record = _JOB.pack(
        id_bytes(job.id),
        job.seq,
        STATE_NUMBERS[job.state.value],
        held * _HELD + waits * _WAITS,
        job.fence,
        job.created_at,
        _UNKNOWN if started_at is None else started_at,
        queue,
        job.lane,
        len(case.attempts),
    )
    for each in case.attempts:
        record += _ATTEMPT.pack(each.attempt, each.started_at, each.ended_at, _STATUS_NUMBERS[each.status])
    return record


def unpack_jobs(records: bytes) -> Iterator[JobRecord]:
    """Yield the jobs of records that follow one another."""
    at, unpack = 0, _JOB.unpack_from
    while at < len(records):
        raw, seq, state, flags, fence, created_at, started_at, queue, lane, count = unpack(records, at)
        at += _JOB.size
        attempts: tuple[RanAttempt, ...] = ()
        if count:
            end = at + count * _ATTEMPT.size
            found = _ATTEMPT.iter_unpack(records[at:end])
            attempts = tuple(RanAttempt(n, start, stop, _STATUSES[status]) for n, start, stop, status in found)
            at = end
        yield JobRecord(
            raw,
            seq,
            state,
            bool(flags & _HELD),
            bool(flags & _WAITS),
            fence,
            created_at,
            None if started_at == _UNKNOWN else started_at,
            queue,
            lane,
            attempts,
        )


def compare(job: JobRecord, queue: str | None, trace: Trace | None, bounds: Bounds) -> Iterator[Finding]:
    """Yield every disagreement between a job's rows and its events."""
    if trace is None or not trace.created:
        if bounds.covers(job.created_at):
            yield _unlike(job, queue, EngineInvariant.CREATION_KNOWN, "it has no creation event")
        if trace is None:
            return
    if trace.state_number != job.state_number:
        message = f"it is {STATES[job.state_number]}, but its last event left it {trace.state}"
        yield _unlike(job, queue, EngineInvariant.STATE_OF_LAST_EVENT, message)
    yield from _compare_attempts(job, queue, trace)


def _compare_attempts(job: JobRecord, queue: str | None, trace: Trace) -> Iterator[Finding]:
    """Match claims, ends and attempts one to one, as far back as the job's events reach."""
    rows = {each.attempt for each in job.attempts}
    running = {job.fence} if job.held else set[int]()
    claims, ends = set(trace.claims), set(trace.ends)
    for number in sorted(claims - rows - running):
        message = f"attempt {number} was claimed, but neither runs nor has a row"
        yield _unlike(job, queue, EngineInvariant.CLAIM_KEPT, message)
    for number in sorted(ends - rows):
        yield _unlike(job, queue, EngineInvariant.END_KEPT, f"attempt {number} ended, but has no row")
    # Moves before the first remaining event may belong to events that were pruned.
    known_from = -1 if trace.created else trace.first_at
    for each in job.attempts:
        if each.attempt not in claims and each.started_at > known_from:
            message = f"no event says that attempt {each.attempt} was claimed"
            yield _unlike(job, queue, EngineInvariant.ATTEMPT_CLAIMED, message, each)
        if each.attempt not in ends and each.ended_at > known_from:
            message = f"no event says that attempt {each.attempt} ended"
            yield _unlike(job, queue, EngineInvariant.ATTEMPT_ENDED, message, each)
        if not trace.allows(each.attempt, each.status):
            message = f"attempt {each.attempt} is {each.status}, but its event tells of another end"
            yield _unlike(job, queue, EngineInvariant.END_AGREES, message, each)
    if running - claims and (job.started_at or 0) > known_from:
        message = f"attempt {job.fence} runs, but no event says that it was claimed"
        yield _unlike(job, queue, EngineInvariant.RUNNING_CLAIMED, message)


def audit_missing(raw: bytes, trace: Trace) -> Iterator[Finding]:
    """Check a job that has events but no row, which is fine if it may have been pruned."""
    if trace.state not in TERMINAL:
        message = f"its row is gone, though its last event left it {trace.state}"
        yield EngineInvariant.UNFINISHED_KEPT.broken(message, job_id=id_text(raw))


def _unlike(job: JobRecord, queue: str | None, rule: EngineInvariant, message: str, *rows: RanAttempt) -> Finding:
    job_id = id_text(job.id)
    row = {"seq": job.seq, "id": job_id, "queue": queue, "state": STATES[job.state_number].value, "fence": job.fence}
    shown = (row | {"created_at": job.created_at, "started_at": job.started_at}, *(each._asdict() for each in rows))
    return rule.broken(message, job_id=job_id, queue=queue, rows=shown)
