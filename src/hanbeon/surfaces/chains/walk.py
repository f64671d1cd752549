"""The walk along a chain: from the end of one operation to the next one, and nothing else.

FORWARD from the first job to the last. A failure turns the walk BACKWARD, beginning with the failed job's own backward
operation; a job without a library turns it without running anything of its own. It ends behind either end of the chain.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from hanbeon.surfaces.chains.vocabulary import (
    CANCELED_SUFFIX,
    FAILED_SUFFIX,
    NO_OPERATION,
    NOLIB,
    NOTYET,
    UNINIT,
    Direction,
    StepOutcome,
)


class JobShape(NamedTuple):
    """The fields of a job that decide the walk."""

    operation_library: str
    forward_operation: str
    backward_operation: str


class Cursor(NamedTuple):
    """A place in the chain, from 0, and the direction of the walk there."""

    place: int
    direction: Direction


class Visit(enum.Enum):
    """The walk at one job: it turns around, there is nothing to run, or an operation is run."""

    TURN = enum.auto()
    PASS = enum.auto()
    RUN = enum.auto()


START = Cursor(0, Direction.FORWARD)


def initial_state(operation_library: str) -> str:
    """Return the state of a job before a run."""
    return NOLIB if operation_library == UNINIT else NOTYET


def operation_of(job: JobShape, direction: Direction) -> str:
    return job.forward_operation if direction is Direction.FORWARD else job.backward_operation


def visit(job: JobShape, direction: Direction) -> Visit:
    """Decide what to do at a job. A missing library counts before a missing operation."""
    if initial_state(job.operation_library) == NOLIB:
        return Visit.TURN
    return Visit.PASS if operation_of(job, direction) == NO_OPERATION else Visit.RUN


def state_after(state: str, direction: Direction, outcome: StepOutcome) -> str:
    """Return the state of a job after one of its operations has ended."""
    if direction is Direction.FORWARD:
        return outcome.value
    return state + (CANCELED_SUFFIX if outcome is StepOutcome.SUCCESS else FAILED_SUFFIX)


def onward(at: Cursor, outcome: StepOutcome | None, length: int) -> Cursor | None:
    """Return the job to visit next; None at the end of the walk. No outcome: the job has no library."""
    if at.direction is Direction.FORWARD and outcome is StepOutcome.SUCCESS:
        return Cursor(at.place + 1, Direction.FORWARD) if at.place + 1 < length else None
    if at.direction is Direction.FORWARD and outcome is not None:
        return Cursor(at.place, Direction.BACKWARD)
    return Cursor(at.place - 1, Direction.BACKWARD) if at.place > 0 else None


class Passed(NamedTuple):
    """The visits up to the next operation: the jobs passed, the direction, and the operation, if one is left."""

    jobs: list[Cursor]
    direction: Direction
    next: Cursor | None


def to_next_operation(jobs: Sequence[JobShape], at: Cursor | None, direction: Direction) -> Passed:
    """Walk from `at` over the jobs without an operation, which succeed at once, to the next operation to run."""
    passed: list[Cursor] = []
    while at is not None:
        direction = at.direction
        match visit(jobs[at.place], direction):
            case Visit.RUN:
                return Passed(passed, direction, at)
            case Visit.PASS:
                passed.append(at)
                at = onward(at, StepOutcome.SUCCESS, len(jobs))
            case Visit.TURN:
                direction = Direction.BACKWARD
                at = onward(at, None, len(jobs))
    return Passed(passed, direction, None)
