"""Audit of a run: its recorded steps against the walk that their outcomes determine.

It shares no rule with the walk that it audits (`surfaces/chains/walk.py`), only the words. That one goes from job to
job; this one knows the shape of a whole run: a way forward, at most one way back, and where each of them ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hanbeon.surfaces.chains.vocabulary import CANCELED_SUFFIX, FAILED_SUFFIX, NO_OPERATION, UNINIT, Direction


class Shape(NamedTuple):
    """The fields of a job that decide the walk."""

    library: str
    forward: str
    backward: str


class RanStep(NamedTuple):
    """A recorded step: the place of its job, the direction, and the state that it left the job in."""

    place: int
    direction: Direction
    state: str


class Place(NamedTuple):
    """An operation: the place of its job, from 0, and the direction."""

    place: int
    direction: Direction


class Audit(NamedTuple):
    """The first step that the walk does not explain, or None; and the operation that comes next, if one is left."""

    problem: str | None
    next: Place | None


_SUCCESS = "SUCCESS"
_FAILURES = ("FAILED", "TIMEOUT")


class _Unlike(Exception):
    """A step that is not the one that was due; its argument is the problem."""


class _Waits(Exception):
    """No step is left to explain, and an operation is due."""

    def __init__(self, next: Place) -> None:
        super().__init__(next)
        self.next = next


def audit_run(jobs: Sequence[Shape], steps: Iterable[RanStep]) -> Audit:
    """Explain the recorded steps, one after the other, by the only walk that their outcomes allow."""
    recorded = iter(steps)
    try:
        left, turned_at = _forward(jobs, recorded)
        if turned_at is not None:
            _backward(jobs, recorded, left, turned_at)
        if (further := next(recorded, None)) is not None:
            raise _Unlike(_unlike(None, further))
    except _Unlike as unlike:
        return Audit(str(unlike), None)
    except _Waits as waits:
        return Audit(None, waits.next)
    return Audit(None, None)


def _forward(jobs: Sequence[Shape], recorded: Iterator[RanStep]) -> tuple[dict[int, str], int | None]:
    """Explain the way forward; return the state that each job was left in, and the last place to undo, if it turned."""
    left: dict[int, str] = {}
    for place, job in enumerate(jobs):
        if job.library == UNINIT:
            return left, place - 1  # Nothing of its own is run, forward or back.
        runs_nothing = job.forward == NO_OPERATION
        step = _next(recorded, Place(place, Direction.FORWARD), None if runs_nothing else "SUCCESS, FAILED or TIMEOUT")
        if step is None:
            raise _Unlike(_unlike(RanStep(place, Direction.FORWARD, _SUCCESS), None))
        allowed = (_SUCCESS,) if runs_nothing else (_SUCCESS, *_FAILURES)
        if step[:2] != (place, Direction.FORWARD) or step.state not in allowed:
            raise _Unlike(_unlike(RanStep(place, Direction.FORWARD, allowed[0]), step))
        left[place] = step.state
        if step.state != _SUCCESS:
            return left, place
    return left, None


def _backward(jobs: Sequence[Shape], recorded: Iterator[RanStep], left: dict[int, str], last: int) -> None:
    """Explain the way back, from the job that failed to the first."""
    for place in range(last, -1, -1):
        undone = RanStep(place, Direction.BACKWARD, left[place] + CANCELED_SUFFIX)
        runs_nothing = jobs[place].backward == NO_OPERATION
        step = _next(recorded, Place(place, Direction.BACKWARD), None if runs_nothing else undone.state)
        if step is None:
            raise _Unlike(_unlike(undone, None))
        failed = undone._replace(state=left[place] + FAILED_SUFFIX)
        if step != undone and (runs_nothing or step != failed):
            raise _Unlike(_unlike(undone, step))


def _next(recorded: Iterator[RanStep], due: Place, outcome: str | None) -> RanStep | None:
    """Return the next step. If there is none, the run waits for an operation, if one is due: `outcome` is its own."""
    step = next(recorded, None)
    if step is None and outcome is not None:
        raise _Waits(due)
    return step


def _unlike(expected: RanStep | None, found: RanStep | None) -> str:
    return f"{_shown(found)} is recorded where {_shown(expected)} was due"


def _shown(step: RanStep | None) -> str:
    return "nothing" if step is None else f"{step.direction} of job {step.place + 1}, {step.state}"
