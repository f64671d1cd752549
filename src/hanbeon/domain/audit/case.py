"""Consistency of one job: its rows against each other and against its events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from hanbeon.domain.audit.findings import Code, Finding, Severity
from hanbeon.domain.audit.history import Bounds, Trace
from hanbeon.domain.lifecycle import TERMINAL, AttemptStatus, State

STUCK_AFTER_US = 60 * 1_000_000


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a job's row that an audit needs. No queue: its lane is gone, and readers do not see it."""

    seq: int
    id: str
    has_id: bool = True
    queue: str | None
    role: str
    key: str
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
    trace: Trace | None = None

    @property
    def held(self) -> int | None:
        """The number of the attempt that runs now."""
        return self.job.fence if self.job.state is State.RUNNING else None

    @property
    def waits_for_worker(self) -> bool:
        """True if it has been sent to stream workers and none has begun: it takes a slot meanwhile."""
        return self.job.state is State.READY and self.job.dispatched_at is not None

    def slot_from(self, attempt: int, started_at: int) -> int:
        """Return since when an attempt took its slot: its dispatch, if it was sent to stream workers."""
        return started_at if self.trace is None else self.trace.dispatches.get(attempt, started_at)

    @property
    def first_start(self) -> int | None:
        starts = [attempt.started_at for attempt in self.attempts]
        if self.held is not None and self.job.started_at is not None:
            starts.append(self.job.started_at)
        return min(starts, default=None)


def audit_case(case: Case, bounds: Bounds) -> Iterator[Finding]:
    """Yield every inconsistency of one job."""
    yield from _check_creation(case, bounds)
    yield from _check_claims(case)
    yield from _check_overlaps(case)
    yield from _check_dependencies(case)
    yield from _check_progress(case, bounds.now)


def audit_missing(job_id: str, trace: Trace) -> Iterator[Finding]:
    """Check a job that has events but no row, which is fine if it may have been pruned."""
    if trace.state not in TERMINAL:
        yield Finding(
            code=Code.LOST_JOB, message=f"its row is gone, though its last event left it {trace.state}", job_id=job_id
        )


def _check_creation(case: Case, bounds: Bounds) -> Iterator[Finding]:
    job, trace = case.job, case.trace
    if not job.has_id:
        yield _found(case, Code.LOST_JOB, "its id does not lead to it: it can neither be seen nor looked up")
    if job.queue is None:
        yield _found(case, Code.LOST_JOB, "its lane or queue is gone: it can neither be seen nor claimed")
    if (trace is None or not trace.created) and bounds.covers(job.created_at):
        yield _found(case, Code.LOST_JOB, "it has no creation event")
    if trace is not None and trace.state is not job.state:
        yield _found(case, Code.STATE_MISMATCH, f"it is {job.state}, but its last event left it {trace.state}")


def _check_claims(case: Case) -> Iterator[Finding]:
    """Check that claims, ends and attempts match one to one, as far back as the job's events reach."""
    job, trace = case.job, case.trace
    rows = {attempt.attempt for attempt in case.attempts}
    if case.attempts and job.fence < case.attempts[-1].attempt:
        yield _found(
            case, Code.DOUBLED_CLAIM, f"its fence is {job.fence}, less than its attempt {max(rows)}", *case.attempts
        )
    if len(rows) < len(case.attempts):
        # A job that has ended is the record of its last attempt; the others are written apart.
        yield _found(case, Code.DOUBLED_CLAIM, "an attempt has ended twice", *case.attempts)
    if case.held in rows:
        yield _found(case, Code.DOUBLED_CLAIM, f"attempt {case.held} has ended and still runs", *case.attempts)
    if trace is None:
        return
    claims, ends = set(trace.claims), set(trace.ends)
    for number in sorted(claims - rows - {case.held}):
        yield _found(case, Code.MISSING_ATTEMPT, f"attempt {number} was claimed, but neither runs nor has a row")
    for number in sorted(ends - rows):
        yield _found(case, Code.MISSING_ATTEMPT, f"attempt {number} ended, but has no row")
    # Moves before the first remaining event may belong to events that were pruned.
    known_from = -1 if trace.created else trace.first_at
    for attempt in case.attempts:
        if attempt.attempt not in claims and attempt.started_at > known_from:
            yield _found(
                case, Code.MISSING_ATTEMPT, f"no event says that attempt {attempt.attempt} was claimed", attempt
            )
        if attempt.attempt not in ends and attempt.ended_at > known_from:
            yield _found(case, Code.MISSING_ATTEMPT, f"no event says that attempt {attempt.attempt} ended", attempt)
    if case.held is not None and case.held not in claims and (job.started_at or 0) > known_from:
        yield _found(case, Code.MISSING_ATTEMPT, f"attempt {case.held} runs, but no event says that it was claimed")


def _check_overlaps(case: Case) -> Iterator[Finding]:
    """Check that every attempt begins no earlier than its predecessor ended."""
    before: AttemptFacts | None = None
    for attempt in case.attempts:
        if attempt.ended_at < attempt.started_at:
            message = f"attempt {attempt.attempt} ended before it started"
            yield _found(case, Code.OVERLAPPING_CLAIMS, message, attempt)
        if before is not None and attempt.started_at < before.ended_at:
            message = f"attempt {attempt.attempt} started before attempt {before.attempt} had ended"
            yield _found(case, Code.OVERLAPPING_CLAIMS, message, before, attempt)
        before = attempt
    started_at = case.job.started_at
    if before is not None and case.held is not None and started_at is not None and started_at < before.ended_at:
        message = f"attempt {case.held}, which runs, started before attempt {before.attempt} had ended"
        yield _found(case, Code.OVERLAPPING_CLAIMS, message, before)


def _check_dependencies(case: Case) -> Iterator[Finding]:
    job, first_start = case.job, case.first_start
    waiting = [dependency for dependency in case.dependencies if dependency.state is not State.SUCCEEDED]
    for dependency in case.dependencies:
        if dependency.id is None:
            yield _found(case, Code.BROKEN_DEPENDENCY, f"it depends on job #{dependency.dependency}, which is gone")
        elif first_start is None:
            continue
        elif dependency.state is not State.SUCCEEDED:
            message = f"it ran, though job {dependency.id}, on which it depends, is {dependency.state}"
            yield _found(case, Code.BROKEN_DEPENDENCY, message, dependency)
        elif dependency.finished_at is not None and first_start < dependency.finished_at:
            message = f"it started before job {dependency.id}, on which it depends, had succeeded"
            yield _found(case, Code.BROKEN_DEPENDENCY, message, dependency)
    # A finished job's dependencies may have been pruned before it; those of an unfinished one are kept.
    # One from a caller's transaction may count some that ended before the commit, until it is counted again.
    may_be_high = job.recount or job.state in TERMINAL
    wrong = job.unmet < len(waiting) if may_be_high else job.unmet != len(waiting)
    if wrong:
        message = f"it waits for {job.unmet} jobs, but {len(waiting)} of its dependencies have not succeeded"
        yield _found(case, Code.BROKEN_DEPENDENCY, message, *case.dependencies)
    elif job.blocked != (job.unmet > 0):
        message = f"it waits for {job.unmet} jobs, but is {'blocked' if job.blocked else 'not blocked'}"
        yield _found(case, Code.BROKEN_DEPENDENCY, message)


def _check_progress(case: Case, now: int) -> Iterator[Finding]:
    job, long_ago = case.job, now - STUCK_AFTER_US
    waits = any(dependency.state is not State.SUCCEEDED for dependency in case.dependencies)
    free = not waits if job.recount else not job.blocked
    if job.state is State.PENDING and free and job.run_at < long_ago:
        yield _warned(case, "it is due and waits for nothing, but no instance promotes it")
    if job.state is State.RUNNING and job.locked_until is not None and job.locked_until < long_ago:
        yield _warned(case, "its lease has expired, but no instance recovers it")


def _found(case: Case, code: Code, message: str, *rows: msgspec.Struct) -> Finding:
    shown: list[dict[str, Any]] = [msgspec.to_builtins(row) for row in (case.job, *rows)]
    return Finding(code=code, message=message, job_id=case.job.id, queue=case.job.queue, rows=tuple(shown))


def _warned(case: Case, message: str) -> Finding:
    return msgspec.structs.replace(_found(case, Code.STUCK_JOB, message), severity=Severity.WARNING)
