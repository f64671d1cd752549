"""Rules that hold in directed plans: where it is known what goes wrong, nothing needs an excuse."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hanbeon.testing.simulation import Evidence, Oracle

_SLACK = 0.6


def nothing_is_lost(evidence: Evidence) -> Iterator[str]:
    """No attempt is ended by recovery: whoever had it says itself how it ended."""
    for attempt in evidence.attempts:
        if attempt.status == "lost":
            yield f"attempt {attempt.attempt} of job {attempt.seq} was lost"


def superseded_work_stops(evidence: Evidence) -> Iterator[str]:
    """A body beside the next one ends within a lease, whatever the clocks do."""
    lease = evidence.plan.settings["lease"]
    for job, bodies in evidence.bodies.items():
        for older, newer in pairwise(bodies):
            end = evidence.world.now if older.end is None else older.end
            if end - newer.begin > lease + _SLACK:
                yield f"{job}: attempt {older.fence} ran on for {end - newer.begin:.2f} s beside the next one"


def ends_by(seconds: float) -> Oracle:
    """Return the rule that all jobs of the client have succeeded by this time."""

    def jobs_end_in_time(evidence: Evidence) -> Iterator[str]:
        start = evidence.world.now_us() - round(evidence.world.now * 1e6)
        for job in evidence.jobs.values():
            if job.is_built_in:
                continue
            at = None if job.finished_at is None else (job.finished_at - start) / 1e6
            if job.state != "succeeded" or at is None or at > seconds:
                yield f"{job.id} {job.task} is {job.state} at {at}, not succeeded by {seconds}"

    return jobs_end_in_time


def bodies_last_at_most(task: str, seconds: float) -> Oracle:
    """Return the rule that no body of this task lasts longer."""

    def deadlines_hold(evidence: Evidence) -> Iterator[str]:
        for bodies in evidence.bodies.values():
            for body in bodies:
                end = evidence.world.now if body.end is None else body.end
                if body.task == task and end - body.begin > seconds:
                    yield f"{body.job} {task} ran for {end - body.begin:.2f} s, at most {seconds}"

    return deadlines_hold


def attempts_are(*expected: str) -> Oracle:
    """Return the rule that the attempts of each job of the client ended like this, in this order."""

    def attempts_end_as_expected(evidence: Evidence) -> Iterator[str]:
        ended: dict[int, list[tuple[int, str]]] = {}
        for each in evidence.attempts:
            ended.setdefault(each.seq, []).append((each.attempt, each.status))
        for seq, job in evidence.by_seq.items():
            seen = tuple(status for _, status in sorted(ended.get(seq, [])))
            if not job.is_built_in and seen != expected:
                yield f"{job.id} {job.task} had attempts {seen} instead of {expected}"

    return attempts_end_as_expected


def states_are(**expected: str) -> Oracle:
    """Return the rule that the jobs of these tasks are in these states at the end."""

    def states_are_as_expected(evidence: Evidence) -> Iterator[str]:
        for job in evidence.jobs.values():
            if (state := expected.get(job.task, job.state)) != job.state:
                yield f"{job.id} {job.task} is {job.state} instead of {state}"

    return states_are_as_expected


def order_is(*tasks: str) -> Oracle:
    """Return the rule that bodies began in this order of their tasks."""

    def bodies_begin_in_order(evidence: Evidence) -> Iterator[str]:
        seen = tuple(body.task for body in sorted(evidence.world.bodies, key=lambda each: each.begin))
        if seen != tasks:
            yield f"bodies began as {seen} instead of {tasks}"

    return bodies_begin_in_order


def begins_after(task: str, seconds: float) -> Oracle:
    """Return the rule that no body of this task begins before this time."""

    def bodies_wait_for_their_time(evidence: Evidence) -> Iterator[str]:
        for body in evidence.world.bodies:
            if body.task == task and body.begin < seconds:
                yield f"{body.job} {task} began at {body.begin:.2f}, before {seconds}"

    return bodies_wait_for_their_time


def waits_between(seconds: float) -> Oracle:
    """Return the rule that a body begins no sooner after the end of the one before."""

    def attempts_keep_their_distance(evidence: Evidence) -> Iterator[str]:
        for job, bodies in evidence.bodies.items():
            for older, newer in pairwise(bodies):
                if older.end is not None and newer.begin - older.end < seconds:
                    yield f"{job}: attempt {newer.fence} began {newer.begin - older.end:.2f} s after the one before"

    return attempts_keep_their_distance


def nothing_begins_between(begin: float, end: float) -> Oracle:
    """Return the rule that no body begins in this span."""

    def pauses_hold(evidence: Evidence) -> Iterator[str]:
        for body in evidence.world.bodies:
            if begin < body.begin < end:
                yield f"{body.job} {body.task} began at {body.begin:.2f}"

    return pauses_hold


def jobs_are(number: int) -> Oracle:
    """Return the rule that there are so many jobs of the client."""

    def jobs_are_as_many_as_asked_for(evidence: Evidence) -> Iterator[str]:
        found = sum(not job.is_built_in for job in evidence.jobs.values())
        if found != number:
            yield f"there are {found} jobs instead of {number}"

    return jobs_are_as_many_as_asked_for
