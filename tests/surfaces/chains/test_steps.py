"""The end of a step, read from its job."""

from __future__ import annotations

import pytest

from hanbeon.domain.lifecycle import State
from hanbeon.surfaces.chains.steps import StepEnd, step_end
from hanbeon.surfaces.chains.vocabulary import StepOutcome

_LEFT = '{"value":null,"context":{"kept":1},"error":{"type":"ValueError","message":"no"},"fence":2}'


def end(state: State, **given: object) -> StepEnd:
    nothing = {"result": None, "progress": None, "failure_type": None, "message": None, "fence": 2}
    return step_end(state, **{**nothing, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            end(State.SUCCEEDED, result='{"return":[1],"context":{"a":2}}'),
            StepEnd(StepOutcome.SUCCESS, "[1]", '{"a":2}'),
        ),
        (
            end(State.FAILED, failure_type="error", message="ValueError: no", progress=_LEFT),
            StepEnd(StepOutcome.FAILED, '{"error":{"type":"ValueError","message":"no"}}', '{"kept":1}'),
        ),
        # The attempt before raised, and what it wrote is kept; this one timed out, was lost or was cancelled.
        (
            end(State.FAILED, failure_type="timeout", message="late", progress=_LEFT, fence=3),
            StepEnd(StepOutcome.TIMEOUT, '{"error":{"type":"timeout","message":"late"}}', '{"kept":1}'),
        ),
        (
            end(State.FAILED, failure_type="lost", message="gone", progress='{"value":"half"}'),
            StepEnd(StepOutcome.FAILED, '{"error":{"type":"lost","message":"gone"}}'),
        ),
        (
            end(State.CANCELLED, message="stopped", progress=_LEFT),
            StepEnd(StepOutcome.FAILED, '{"error":{"type":"cancelled","message":"stopped"}}', '{"kept":1}'),
        ),
    ],
    ids=["returned", "raised", "timed out", "lost", "cancelled"],
)
def test_step_end_keeps_what_it_must(found: StepEnd, expected: StepEnd) -> None:
    assert found == expected


def test_step_end_of_a_foreign_result_is_a_failure() -> None:
    assert end(State.SUCCEEDED, result="7").outcome is StepOutcome.FAILED
