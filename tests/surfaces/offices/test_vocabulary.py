"""The vocabulary of offices: a total mapping, with its inverse."""

import enum

import pytest

from hanbeon.domain.lifecycle import AttemptStatus, Phase, Reason, Selection, State, phase_of, selection, total
from hanbeon.surfaces.offices.vocabulary import EVENT, EXECUTION, PHASE, STATUS, JobStatus, selected


def test_every_phase_has_its_word_and_every_word_its_phase() -> None:
    assert {STATUS[phase]: phase for phase in Phase} == dict(PHASE)
    assert set(PHASE) == set(JobStatus)
    assert [STATUS[phase].value for phase in Phase] == [
        "pending",
        "ready",
        "processing",
        "timeout",
        "done",
        "failed",
        "cancelled",
    ]


def test_a_member_without_a_word_breaks_the_import() -> None:
    class Colour(enum.Enum):
        RED = 1
        NEW = 2

    with pytest.raises(TypeError, match="NEW"):
        total(Colour, {Colour.RED: "red"})


def test_lost_attempts_failed_and_released_ones_cancelled() -> None:
    mapped = {status.value: EXECUTION[status].value for status in AttemptStatus}
    assert mapped.pop("lost") == "failed"
    assert mapped.pop("released") == "cancelled"
    assert all(word == mapped[word] for word in mapped)


def test_every_reason_is_mapped_or_left_out_on_purpose() -> None:
    silent = {reason for reason in Reason if EVENT[reason] is None}
    assert silent == {
        Reason.SCHEDULED,
        Reason.DISPATCHED,
        Reason.POSTPONED,
        Reason.STOP_REQUESTED,
        Reason.REQUEUED,
        Reason.REPRIORITISED,
    }


@pytest.mark.parametrize(
    ("words", "states", "overdue"),
    [
        (["pending"], (State.PENDING,), None),
        (["processing"], (State.RUNNING,), False),
        (["timeout"], (State.RUNNING,), True),
        (["timeout", "processing"], (State.RUNNING,), None),
        (["timeout", "done"], (State.RUNNING, State.SUCCEEDED), True),
        ([], (), None),
    ],
)
def test_a_filter_is_the_inverse_of_the_words(
    words: list[str], states: tuple[State, ...], overdue: bool | None
) -> None:
    assert selected(words) == Selection(states, overdue)


@pytest.mark.parametrize("state", State)
def test_only_what_runs_can_be_overdue(state: State) -> None:
    late = phase_of(state, deadline_at=10, now=10)
    assert late is (Phase.OVERDUE if state is State.RUNNING else Phase(state.value))
    assert phase_of(state, deadline_at=11, now=10) is phase_of(state, None, 10) is Phase(state.value)


def test_a_selection_of_all_phases_is_one_of_all_states() -> None:
    assert selection(list(Phase)) == Selection(tuple(State), None)
