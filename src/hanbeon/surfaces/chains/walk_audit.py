"""Audit of a run: its recorded steps against the walk that their outcomes determine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hanbeon.surfaces.chains.vocabulary import CANCELED_SUFFIX, Direction, StepOutcome
from hanbeon.surfaces.chains.walk import (
    START,
    Cursor,
    JobShape,
    initial_state,
    onward,
    state_after,
    to_next_operation,
)


class RanStep(NamedTuple):
    """A recorded step: the place of its job, the direction, and the state that it left the job in."""

    place: int
    direction: Direction
    state: str


class Audit(NamedTuple):
    """The first step that the walk does not explain, or None; and the operation that comes next, if one is left."""

    problem: str | None
    next: Cursor | None


def audit_run(jobs: Sequence[JobShape], steps: Iterable[RanStep]) -> Audit:
    """Follow the walk along the recorded steps."""
    recorded = iter(steps)
    states = [initial_state(job.operation_library) for job in jobs]
    at: Cursor | None = START
    direction = Direction.FORWARD
    while True:
        passed = to_next_operation(jobs, at, direction)
        direction = passed.direction
        for each in passed.jobs:
            states[each.place] = state_after(states[each.place], each.direction, StepOutcome.SUCCESS)
            expected = RanStep(each.place, each.direction, states[each.place])
            if (found := next(recorded, None)) != expected:
                return Audit(_unlike(expected, found), None)
        step = next(recorded, None)
        if step is None or passed.next is None:
            return Audit(None if step is None else _unlike(None, step), passed.next)
        outcome = _outcome(step)
        at = passed.next
        if outcome is not None:
            states[at.place] = state_after(states[at.place], at.direction, outcome)
        expected = RanStep(at.place, at.direction, states[at.place])
        if outcome is None or step != expected:
            return Audit(_unlike(expected, step), None)
        at = onward(at, outcome, len(jobs))


def _outcome(step: RanStep) -> StepOutcome | None:
    if step.direction is Direction.BACKWARD:
        return StepOutcome.SUCCESS if step.state.endswith(CANCELED_SUFFIX) else StepOutcome.FAILED
    return StepOutcome(step.state) if step.state in list(StepOutcome) else None


def _unlike(expected: RanStep | None, found: RanStep | None) -> str:
    return f"{_shown(found)} is recorded where {_shown(expected)} was due"


def _shown(step: RanStep | None) -> str:
    return "nothing" if step is None else f"{step.direction} of job {step.place + 1}, {step.state}"
