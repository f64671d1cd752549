"""Why is my job not running? Every reason there is now, in the order a person would look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.job import NO_HANDLER, JobRecord
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.limits import NO_LIMIT, QueueLimits

_SHOWN = 10


class Because(msgspec.Struct, frozen=True):
    """One reason: a stable code, a sentence, and what it speaks of."""

    code: str
    text: str
    details: dict[str, Any] = msgspec.field(default_factory=dict)


class Explanation(msgspec.Struct, frozen=True):
    """`runnable`: a worker that looks now may take it. Otherwise every reason against it."""

    runnable: bool
    reasons: list[Because]


class Holder(msgspec.Struct, frozen=True):
    """A running job that takes a slot."""

    id: str
    role: str
    concurrency_key: str
    instance: int | None
    started_at: int


class Facts(msgspec.Struct, frozen=True):
    """What an explanation needs, read at one instant."""

    job: JobRecord
    dependencies: Mapping[str, State]
    paused: bool
    limits: QueueLimits
    holders: Sequence[Holder]
    workers: Sequence[str]
    """Names of live instances that have the job's task."""
    now: int


def explain(facts: Facts) -> Explanation:
    """Say why a job does not run, or that it does, has ended, or may start at any moment."""
    job = facts.job
    if job.state in TERMINAL:
        return Explanation(False, [Because("finished", f"It has ended: {job.state}.", {"state": job.state.value})])
    if job.state is State.RUNNING:
        return Explanation(False, [_running(job, facts.now)])
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
    return Explanation(True, [Because("next_in_line", text)])


def _running(job: JobRecord, now: int) -> Because:
    if job.stop_requested_at is not None:
        return Because("stopping", "It runs and has been told to stop.", {"instance": job.locked_by})
    if job.deadline_at is not None and job.deadline_at <= now:
        return Because("stopping", "It runs, is past its deadline, and is being stopped.", {"instance": job.locked_by})
    if job.locked_until is not None and job.locked_until <= now:
        text = "Its instance has stopped renewing its lease; another takes it over within seconds."
        return Because("lease_expired", text, {"instance": job.locked_by})
    return Because("running", "It is running.", {"instance": job.locked_by, "attempt": job.fence})


def _dependencies(dependencies: Mapping[str, State]) -> Iterable[Because]:
    unmet = {job_id: state for job_id, state in dependencies.items() if state is not State.SUCCEEDED}
    dead = [job_id for job_id, state in unmet.items() if state in TERMINAL]
    alive = [job_id for job_id in unmet if job_id not in dead]
    if dead:
        text = f"It is blocked by {_some(dead)}, which failed or was cancelled; retry that job."
        yield Because("blocked", text, {"blocked_by": dead})
    if alive:
        yield Because("dependency", f"It waits for {_some(alive)}.", {"waits_for": alive})


def _time(job: JobRecord, now: int) -> Iterable[Because]:
    if job.run_at > now:
        code, what = ("retry_time", "its next try") if job.fence else ("run_at", "its time")
        seconds = (job.run_at - now) / 1_000_000
        yield Because(code, f"It waits for {what}, in {seconds:,.1f} s.", {"run_at": job.run_at})


def _pause(facts: Facts) -> Iterable[Because]:
    if facts.paused:
        queue = facts.job.queue
        yield Because("paused", f"Queue {queue!r} is paused; resume it.", {"queue": queue})


def _slots(facts: Facts) -> Iterable[Because]:
    """Which limits are full, and by whom."""
    job, limits = facts.job, facts.limits
    of_role = [holder for holder in facts.holders if holder.role == job.role]
    of_key = [holder for holder in facts.holders if holder.concurrency_key == job.concurrency_key]
    for code, what, limit, holders in (
        ("queue_full", f"queue {job.queue!r}", limits.max_concurrent, facts.holders),
        ("role_full", f"role {job.role!r}", limits.for_role(job.role), of_role),
        ("key_full", f"key {job.concurrency_key!r}", limits.for_key(job.concurrency_key), of_key),
    ):
        if limit != NO_LIMIT and len(holders) >= limit:
            ids = [holder.id for holder in holders]
            text = f"All {limit} slots of {what} are taken, by {_some(ids)}."
            yield Because(code, text, {"limit": limit, "holders": ids[:_SHOWN]})


def _workers(facts: Facts) -> Iterable[Because]:
    task = facts.job.task
    if task == NO_HANDLER:
        role = f"for role {facts.job.role!r}" if facts.job.role else "as the default"
        yield Because("no_handler", f"No task has been named that runs it; name one {role} in its office's sessions.")
    elif not facts.workers:
        text = f"No live worker has registered task {task!r}; start one that does."
        yield Because("no_worker", text, {"task": task})


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_SHOWN])
    return shown if len(ids) <= _SHOWN else f"{shown} and {len(ids) - _SHOWN} more"
