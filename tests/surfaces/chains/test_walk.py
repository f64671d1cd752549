"""The walk: every path of the source document in a table, and random chains against its prose."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.surfaces.chains.job import ChainJob
from hanbeon.surfaces.chains.vocabulary import NO_OPERATION, UNINIT, Direction, StepOutcome
from hanbeon.surfaces.chains.walk import START, JobShape, initial_state, onward, state_after, to_next_operation
from tests.surfaces.chains.reference import Job, QueueManager, Ran

F, B = "FORWARD", "BACKWARD"
_OUTCOMES = {"success": StepOutcome.SUCCESS, "failure": StepOutcome.FAILED, "timeout": StepOutcome.TIMEOUT}
Ends = dict[tuple[int, str], str]


def walk(jobs: list[JobShape], ends: Ends) -> tuple[list[Ran], list[str], str]:
    """Walk a chain; operations end as `ends` says, with success where it says nothing."""
    states = [initial_state(job.operation_library) for job in jobs]
    direction = Direction.FORWARD
    ran: list[Ran] = []
    at: Any = START
    while True:
        passed = to_next_operation(jobs, at, direction)
        direction = passed.direction
        for each in passed.jobs:
            states[each.place] = state_after(states[each.place], each.direction, StepOutcome.SUCCESS)
            ran.append((each.place, each.direction.value, states[each.place]))
        if passed.next is None:
            return ran, states, direction.value
        at = passed.next
        outcome = _OUTCOMES[ends.get((at.place, at.direction.value), "success")]
        states[at.place] = state_after(states[at.place], at.direction, outcome)
        ran.append((at.place, at.direction.value, states[at.place]))
        at = onward(at, outcome, len(jobs))


def plain(count: int) -> list[JobShape]:
    return [JobShape("lib", "do", "undo") for _ in range(count)]


def nolib(count: int, at: int) -> list[JobShape]:
    return [JobShape(UNINIT if place == at else "lib", "do", "undo") for place in range(count)]


S, C = "SUCCESS", "SUCCESS, CANCELED"
TABLE: dict[str, tuple[list[JobShape], Ends, list[Ran], list[str], str]] = {
    "all succeed": (plain(3), {}, [(0, F, S), (1, F, S), (2, F, S)], [S, S, S], F),
    "failure at the first": (
        plain(2),
        {(0, F): "failure"},
        [(0, F, "FAILED"), (0, B, "FAILED, CANCELED")],
        ["FAILED, CANCELED", "NOTYET"],
        B,
    ),
    "failure in the middle": (
        plain(3),
        {(1, F): "failure"},
        [(0, F, S), (1, F, "FAILED"), (1, B, "FAILED, CANCELED"), (0, B, C)],
        [C, "FAILED, CANCELED", "NOTYET"],
        B,
    ),
    "failure at the last": (
        plain(2),
        {(1, F): "failure"},
        [(0, F, S), (1, F, "FAILED"), (1, B, "FAILED, CANCELED"), (0, B, C)],
        [C, "FAILED, CANCELED"],
        B,
    ),
    "timeout at the first": (
        plain(1),
        {(0, F): "timeout"},
        [(0, F, "TIMEOUT"), (0, B, "TIMEOUT, CANCELED")],
        ["TIMEOUT, CANCELED"],
        B,
    ),
    "timeout in the middle": (
        plain(3),
        {(1, F): "timeout"},
        [(0, F, S), (1, F, "TIMEOUT"), (1, B, "TIMEOUT, CANCELED"), (0, B, C)],
        [C, "TIMEOUT, CANCELED", "NOTYET"],
        B,
    ),
    "timeout at the last": (
        plain(2),
        {(1, F): "timeout"},
        [(0, F, S), (1, F, "TIMEOUT"), (1, B, "TIMEOUT, CANCELED"), (0, B, C)],
        [C, "TIMEOUT, CANCELED"],
        B,
    ),
    "no library at the first": (nolib(2, 0), {}, [], ["NOLIB", "NOTYET"], B),
    "no library in the middle": (nolib(3, 1), {}, [(0, F, S), (0, B, C)], [C, "NOLIB", "NOTYET"], B),
    "no library at the last": (nolib(2, 1), {}, [(0, F, S), (0, B, C)], [C, "NOLIB"], B),
    "no library counts before no operation": (
        [JobShape("lib", "do", "undo"), JobShape(UNINIT, NO_OPERATION, NO_OPERATION)],
        {},
        [(0, F, S), (0, B, C)],
        [C, "NOLIB"],
        B,
    ),
    "no operation forward": (
        [JobShape("lib", NO_OPERATION, "undo"), JobShape("lib", "do", "undo")],
        {(1, F): "failure"},
        [(0, F, S), (1, F, "FAILED"), (1, B, "FAILED, CANCELED"), (0, B, C)],
        [C, "FAILED, CANCELED"],
        B,
    ),
    "no operation backward": (
        [JobShape("lib", "do", NO_OPERATION), JobShape("lib", "do", NO_OPERATION)],
        {(1, F): "failure"},
        [(0, F, S), (1, F, "FAILED"), (1, B, "FAILED, CANCELED"), (0, B, C)],
        [C, "FAILED, CANCELED"],
        B,
    ),
    "backward fails and the walk goes on": (
        plain(2),
        {(1, F): "failure", (1, B): "failure", (0, B): "timeout"},
        [(0, F, S), (1, F, "FAILED"), (1, B, "FAILED, FAILED"), (0, B, "SUCCESS, FAILED")],
        ["SUCCESS, FAILED", "FAILED, FAILED"],
        B,
    ),
    "nothing but no operation": (
        [JobShape("lib", NO_OPERATION, NO_OPERATION)] * 2,
        {},
        [(0, F, S), (1, F, S)],
        [S, S],
        F,
    ),
}


def test_new_job_has_the_literals_of_the_document() -> None:
    job = ChainJob()
    assert job.fields() == {
        "forward_operation": "NO_OPERATION",
        "backward_operation": "NO_OPERATION",
        "arguments": "EMPTY_ARGS",
        "operation_library": "UNINIT",
        "expired_time": 30,
    }
    assert (job.job_return, job.next_job, job.prev_job, job.state) == ("UNINIT", "UNLINK", "UNLINK", "NOLIB")
    assert ChainJob(operation_library="lib").state == "NOTYET"


@pytest.mark.parametrize("path", TABLE)
def test_walk_takes_the_path(path: str) -> None:
    jobs, ends, ran, states, direction = TABLE[path]
    assert walk(jobs, ends) == (ran, states, direction)


_shapes = st.builds(
    JobShape,
    st.sampled_from(["lib", "lib", "lib", UNINIT]),
    st.sampled_from(["do", "do", NO_OPERATION]),
    st.sampled_from(["undo", "undo", NO_OPERATION]),
)
_ends = st.dictionaries(
    st.tuples(st.integers(0, 7), st.sampled_from([F, B])), st.sampled_from(["failure", "timeout"]), max_size=6
)


@given(st.lists(_shapes, min_size=1, max_size=8), _ends, st.sampled_from(["lib", UNINIT]))
def test_walk_equals_the_prose_executed(shapes: list[JobShape], ends: Ends, queue_library: str) -> None:
    manager = QueueManager(queue_library, lambda number, direction: ends.get((number, direction), "success"))
    jobs = [
        Job(number, shape.forward_operation, shape.backward_operation, shape.operation_library)
        for number, shape in enumerate(shapes)
    ]
    for job in jobs:
        manager.enqueue(job)
    manager.run()
    enqueued = [
        shape._replace(operation_library=queue_library) if shape.operation_library == UNINIT else shape
        for shape in shapes
    ]
    assert walk(enqueued, ends) == (manager.ran, [job.state for job in jobs], manager.operation_direction)
