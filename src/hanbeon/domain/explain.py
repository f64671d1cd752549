"""Explanations: every reason why a job is not running now, in the order a person would check, or why it ended."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.durations import brief
from hanbeon.domain.hand_move import HandMove
from hanbeon.domain.job import NO_HANDLER, JobRecord
from hanbeon.domain.lifecycle import TERMINAL, Reason, State
from hanbeon.domain.limits import NO_LIMIT, QueueLimits
from hanbeon.domain.retry import FailureType

INSTANTS = frozenset({"run_at", "finished_at", "expires_at"})
"""The details that are instants, for callers that render them in a time zone."""
_MICROS = 1_000_000
_SHOWN = 10
_LONGEST_MESSAGE = 500


class ExplanationCode(enum.StrEnum):
    """Every code of a reason."""

    FINISHED = "finished"
    RUNNING = "running"
    STOPPING = "stopping"
    EVENT_LOOP_BLOCKED = "event_loop_blocked"
    LEASE_EXPIRED = "lease_expired"
    REDIS_UNAVAILABLE = "redis_unavailable"
    DISPATCHED = "dispatched"
    NO_STREAM_WORKER = "no_stream_worker"
    BLOCKED = "blocked"
    DEPENDENCY = "dependency"
    RUN_AT = "run_at"
    RETRY_TIME = "retry_time"
    PAUSED = "paused"
    QUEUE_FULL = "queue_full"
    ROLE_FULL = "role_full"
    KEY_FULL = "key_full"
    NO_HANDLER = "no_handler"
    NO_WORKER = "no_worker"
    NEXT_IN_LINE = "next_in_line"
    CHAIN_EMPTY = "chain_empty"
    CHAIN_NOT_RUN = "chain_not_run"
    CHAIN_BLOCKED = "chain_blocked"


class Because(msgspec.Struct, frozen=True):
    """One reason: a stable code, a sentence, and its details: all that the sentence names."""

    code: ExplanationCode
    text: str
    details: dict[str, Any] = msgspec.field(default_factory=dict)


class Explanation(msgspec.Struct, frozen=True):
    """`runnable`: a worker that claims now may take it. Otherwise every reason against it."""

    runnable: bool
    reasons: list[Because]


class Holder(msgspec.Struct, frozen=True):
    """A running job that occupies a slot."""

    id: str
    role: str
    concurrency_key: str
    instance: int | None
    started_at: int


class StreamFacts(msgspec.Struct, frozen=True):
    """The stream in which a job waits for a worker, as it was seen last."""

    name: str
    sent: bool
    workers: int | None
    """How many read it lately; None: nobody has looked yet."""
    failing: str | None
    """Why Redis cannot be reached, if it cannot."""


class Facts(msgspec.Struct, frozen=True):
    """The input of an explanation, read at one instant."""

    job: JobRecord
    dependencies: Mapping[str, State]
    paused: bool
    limits: QueueLimits
    holders: Sequence[Holder]
    workers: Sequence[str]
    """Names of live instances that have the job's task."""
    now: int
    stream: StreamFacts | None = None
    blocked_us: int | None = None
    """For how long the event loop of its instance has been blocked, if it is."""
    blocked_by: str | None = None
    hand_moves: Sequence[HandMove] = ()


def explain(facts: Facts) -> Explanation:
    """Explain why a job does not run, or that it runs, has ended, or may start at any moment."""
    job = facts.job
    if job.state in TERMINAL:
        return Explanation(False, [_finished(facts)])
    if job.state is State.RUNNING:
        return Explanation(False, [_running(job, facts.now), *_blockage(facts)])
    if facts.stream is not None:
        return Explanation(False, [waiting_for_worker(facts.stream)])
    reasons = [
        *_dependencies(facts.dependencies),
        *_time(job, facts.now),
        *_pause(facts),
        *_slots(facts),
        *_workers(facts),
    ]
    if reasons:
        return Explanation(False, reasons)
    text = "Nothing is in its way: the next worker with a free slot takes it, in the order of its queue."
    return Explanation(True, [Because(ExplanationCode.NEXT_IN_LINE, text)])


def ended(word: str) -> str:
    """Return the opening sentence for a finished job; surfaces pass their own word for the state."""
    return f"It has ended: {word}."


def _finished(facts: Facts) -> Because:
    job = facts.job
    details: dict[str, Any] = {"state": job.state.value, "finished_at": job.finished_at}
    ago = f"{brief((facts.now - (job.finished_at or facts.now)) / _MICROS)} ago"
    if job.state is State.SUCCEEDED:
        marked = next((each for each in facts.hand_moves if each.reason is Reason.MARKED_DONE), None)
        if marked is None:
            return Because(ExplanationCode.FINISHED, ended(job.state), details)
        details |= {"marked_done_by": marked.user or "", "comment": marked.comment}
        by = "A program" if marked.user is None else marked.user
        text = f"{ended(job.state)} {by} marked it as done {ago}: {marked.comment}"
        return Because(ExplanationCode.FINISHED, text, details)
    details |= {
        "failure_type": job.failure_type,
        "error_message": job.error_message,
        "attempt": job.fence,
        "retry_count": job.retry_count,
        "max_retries": job.policy.max_retries,
    }
    if job.exception is not None:
        details |= {"exception": job.exception, "traceback": job.traceback}
    if job.replaced_by is not None:
        details["replaced_by"] = job.replaced_by
        why = _replaced(job.replaced_by, ago)
    elif job.state is State.CANCELLED:
        why = _cancelled(job, ago)
    elif job.failure_type == FailureType.DEPENDENCY_FAILED and (facts.dependencies or not job.fence):
        dead = _dead(facts.dependencies)
        details["blocked_by"] = dead
        why = _failed_with_others(dead, ago)
    elif job.failure_type == FailureType.EXPIRED:
        details["expires_at"] = job.expires_at
        why = _expired(job, ago)
    else:
        why = _failed(job, ago)
    return Because(ExplanationCode.FINISHED, f"{ended(job.state)} {why}", details)


def _failed(job: JobRecord, ago: str) -> str:
    left = job.policy.max_retries - job.retry_count
    why = "A failure like this is not retried by itself" if left > 0 else "No retry is left"
    return (
        f"Attempt {job.fence}, after {job.retry_count} of {job.policy.max_retries} retries, failed {ago}: "
        f"{_failure(job)}. {why}: fix the cause, then retry it."
    )


def _failed_with_others(dead: Sequence[str], ago: str) -> str:
    if not dead:
        return f"It failed {ago} with a job that it depends on, which has been retried or deleted since: retry it, too."
    return f"It failed {ago} with what it depends on, {_some(dead)}: retry that first, then it."


def _expired(job: JobRecord, ago: str) -> str:
    where = f"while attempt {job.fence} ran" if job.attempt_expired else "before it ran to its end"
    return f"It expired {ago}, {where}. Retry it to run it after all: it has no `expires` then."


def _cancelled(job: JobRecord, ago: str) -> str:
    remedy = "Retry it to run it after all."
    if job.stop_requested_at is not None:
        return f"It was cancelled while attempt {job.fence} ran, and had stopped {ago}. {remedy}"
    if not job.fence:
        return f"It was cancelled {ago}, before it ran. {remedy}"
    last = f", which had failed: {_failure(job)}" if job.failure_type else ""
    return f"It was cancelled {ago}, after attempt {job.fence}{last}. {remedy}"


def _replaced(by: str, ago: str) -> str:
    remedy = "Once that has ended, retry it to run it after all."
    return f"It was replaced {ago} by job {by}, which has its unique key. {remedy}"


def _failure(job: JobRecord) -> str:
    """Return the failure type and a shortened message; the details have the full message."""
    message = (job.error_message or "").strip()
    message = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
    return f"{job.failure_type}: {message}".rstrip(".: ")


def _running(job: JobRecord, now: int) -> Because:
    if job.stop_requested_at is not None and job.attempt_expired:
        text = "It runs, has expired, and is being stopped."
        return Because(ExplanationCode.STOPPING, text, {"instance": job.locked_by, "overdue": True})
    if job.stop_requested_at is not None:
        details = {"instance": job.locked_by, "overdue": False}
        return Because(ExplanationCode.STOPPING, "It runs and has been asked to stop.", details)
    if job.deadline_at is not None and job.deadline_at <= now:
        text = "It runs, is past its deadline, and is being stopped."
        return Because(ExplanationCode.STOPPING, text, {"instance": job.locked_by, "overdue": True})
    if job.locked_until is not None and job.locked_until <= now:
        text = "Its instance has stopped renewing its lease; another takes it over within seconds."
        return Because(ExplanationCode.LEASE_EXPIRED, text, {"instance": job.locked_by})
    return Because(ExplanationCode.RUNNING, "It is running.", {"instance": job.locked_by, "attempt": job.fence})


def _blockage(facts: Facts) -> Iterable[Because]:
    if facts.blocked_us is None:
        return
    details = {"instance": facts.job.locked_by, "seconds": round(facts.blocked_us / _MICROS), "job": facts.blocked_by}
    span = brief(facts.blocked_us / _MICROS)
    if facts.blocked_by == facts.job.id:
        text = f"Its body has blocked the event loop of its worker for {span}: make the task a plain function."
    elif facts.blocked_by is not None:
        text = f"The event loop of its worker has been blocked for {span}, by job {facts.blocked_by}."
    else:
        text = f"The event loop of its worker has been blocked for {span}."
    yield Because(ExplanationCode.EVENT_LOOP_BLOCKED, text, details)


def waiting_for_worker(stream: StreamFacts) -> Because:
    """Explain what a dispatched job waits for."""
    details: dict[str, Any] = {"stream": stream.name, "workers": stream.workers}
    if stream.failing is not None:
        text = f"Redis cannot be reached, so no stream worker gets its request: {stream.failing}"
        return Because(ExplanationCode.REDIS_UNAVAILABLE, text, {**details, "error_message": stream.failing})
    if not stream.sent:
        text = f"Its request is about to be sent to stream {stream.name!r}."
        return Because(ExplanationCode.DISPATCHED, text, {**details, "sent": False})
    if stream.workers == 0:
        text = f"Its request is in stream {stream.name!r}, but no worker reads that; start one."
        return Because(ExplanationCode.NO_STREAM_WORKER, text, details)
    text = f"Its request is in stream {stream.name!r}; the next worker with room takes it."
    return Because(ExplanationCode.DISPATCHED, text, {**details, "sent": True})


def _dependencies(dependencies: Mapping[str, State]) -> Iterable[Because]:
    dead = _dead(dependencies)
    alive = [job_id for job_id, state in dependencies.items() if state not in TERMINAL]
    if dead:
        text = f"It is blocked by {_some(dead)}, which failed or was cancelled; retry that job."
        yield Because(ExplanationCode.BLOCKED, text, {"blocked_by": dead})
    if alive:
        yield Because(ExplanationCode.DEPENDENCY, f"It waits for {_some(alive)}.", {"waits_for": alive})


def _dead(dependencies: Mapping[str, State]) -> list[str]:
    return [job_id for job_id, state in dependencies.items() if state in TERMINAL and state is not State.SUCCEEDED]


def _time(job: JobRecord, now: int) -> Iterable[Because]:
    if job.run_at > now:
        code, what = (ExplanationCode.RETRY_TIME, "its next try") if job.fence else (ExplanationCode.RUN_AT, "its time")
        yield Because(code, f"It waits for {what}, in {brief((job.run_at - now) / _MICROS)}.", {"run_at": job.run_at})


def _pause(facts: Facts) -> Iterable[Because]:
    if facts.paused:
        queue = facts.job.queue
        yield Because(ExplanationCode.PAUSED, f"Queue {queue!r} is paused; resume it.", {"queue": queue})


def _slots(facts: Facts) -> Iterable[Because]:
    """Yield the limits that are full, with the jobs that hold their slots."""
    job, limits = facts.job, facts.limits
    of_role = [holder for holder in facts.holders if holder.role == job.role]
    of_key = [holder for holder in facts.holders if holder.concurrency_key == job.concurrency_key]
    for code, what, name, limit, holders in (
        (ExplanationCode.QUEUE_FULL, "queue", job.queue, limits.max_concurrent, facts.holders),
        (ExplanationCode.ROLE_FULL, "role", job.role, limits.for_role(job.role), of_role),
        (ExplanationCode.KEY_FULL, "key", job.concurrency_key, limits.for_key(job.concurrency_key), of_key),
    ):
        if limit != NO_LIMIT and len(holders) >= limit:
            ids = [holder.id for holder in holders]
            text = f"All {limit} slots of {what} {name!r} are taken, by {_some(ids)}."
            yield Because(code, text, {what: name, "limit": limit, "holders": ids[:_SHOWN]})


def _workers(facts: Facts) -> Iterable[Because]:
    task = facts.job.task
    if task == NO_HANDLER:
        role = facts.job.role
        place = f"for role {role!r}" if role else "as the default"
        text = f"No task has been named that runs it; name one {place} in its office's sessions."
        yield Because(ExplanationCode.NO_HANDLER, text, {"role": role})
    elif not facts.workers:
        text = f"No live worker has registered task {task!r}; start one that does."
        yield Because(ExplanationCode.NO_WORKER, text, {"task": task})


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_SHOWN])
    return shown if len(ids) <= _SHOWN else f"{shown} and {len(ids) - _SHOWN} more"
