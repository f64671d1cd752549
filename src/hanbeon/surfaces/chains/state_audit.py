"""Audit of the states that a chain shows: against its recorded steps, and those against the engine's jobs.

It shares no rule with the walk that it audits (`surfaces/chains/walk.py`), only the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.chains.vocabulary import CANCELED_SUFFIX, FAILED_SUFFIX, NOLIB, NOTYET, UNINIT

_TIMEOUT = "timeout"
_UNREADABLE = '"type":"invalid"'
"""In what a step returned: its job succeeded, but its result was not that of an operation."""


class ShownJob(NamedTuple):
    """A job of a chain: its number, its library and the state that it shows."""

    number: int
    library: str
    state: str


class EndedStep(NamedTuple):
    """A recorded step: its number, the chain's job, the direction, the state that it left, and the engine's job."""

    number: int
    job: int
    is_backward: bool
    state: str
    returned: str
    engine_job: str | None


class EngineEnd(NamedTuple):
    """The engine's job of a step: its state, and its failure type."""

    state: State
    failure_type: str | None


def wrong_states(jobs: Iterable[ShownJob], last_run: Iterable[EndedStep]) -> Iterator[str]:
    """Yield each job that shows another state than its last step in the last run left it in."""
    left = {step.job: step.state for step in last_run}
    for job in jobs:
        expected = left.get(job.number, NOLIB if job.library == UNINIT else NOTYET)
        if job.state != expected:
            yield f"job {job.number} is {job.state!r}, but its steps have left it {expected!r}"


def shared_jobs(steps: Iterable[EndedStep]) -> Iterator[str]:
    """Yield each job of the engine that ran more than one step."""
    used = Counter(step.engine_job for step in steps if step.engine_job is not None)
    for job, count in used.items():
        if count > 1:
            yield f"{count} steps were run by one job, {job}"


def wrong_steps(steps: Iterable[EndedStep], engine: Mapping[str, EngineEnd]) -> Iterator[str]:
    """Yield each step that ended unlike the engine's job that ran it. Jobs that retention has deleted tell nothing."""
    for step in steps:
        end = None if step.engine_job is None else engine.get(step.engine_job)
        if end is not None and not _agree(step, end):
            failure = "" if end.failure_type is None else f" ({end.failure_type})"
            job = f"its job {step.engine_job} is {end.state}{failure}"
            yield f"step {step.number} is recorded as {step.state!r}, but {job}"


def _agree(step: EndedStep, end: EngineEnd) -> bool:
    if end.state is State.SUCCEEDED:
        succeeded = step.state.endswith(CANCELED_SUFFIX) if step.is_backward else step.state == "SUCCESS"
        return succeeded or _UNREADABLE in step.returned
    if end.state not in (State.FAILED, State.CANCELLED):
        return False
    if step.is_backward:
        return step.state.endswith(FAILED_SUFFIX)
    return step.state == ("TIMEOUT" if end.failure_type == _TIMEOUT else "FAILED")
