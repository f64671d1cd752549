"""The one table of moves: complete, connected, and read by `is_legal` as it is written."""

import itertools

import pytest

from hanbeon.domain.lifecycle import LIFECYCLE, TERMINAL, UNFINISHED, Move, Reason, State, is_legal, sources_of

# Written out once more by hand: a change of the table should be meant.
MOVES = {
    (None, State.READY): {Reason.ENQUEUED},
    (None, State.PENDING): {Reason.SCHEDULED},
    (State.PENDING, State.READY): {Reason.PROMOTED},
    (State.PENDING, State.CANCELLED): {Reason.CANCELLED, Reason.REPLACED},
    (State.PENDING, State.FAILED): {Reason.DEPENDENCY_FAILED, Reason.EXPIRED},
    (State.READY, State.FAILED): {Reason.EXPIRED},
    (State.PENDING, State.PENDING): {Reason.REPRIORITISED},
    (State.READY, State.RUNNING): {Reason.CLAIMED},
    (State.READY, State.CANCELLED): {Reason.CANCELLED, Reason.REPLACED},
    (State.READY, State.READY): {Reason.REPRIORITISED, Reason.DISPATCHED},
    (State.RUNNING, State.SUCCEEDED): {Reason.SUCCEEDED},
    (State.RUNNING, State.PENDING): {Reason.RETRIED, Reason.POSTPONED},
    (State.RUNNING, State.READY): {Reason.RELEASED},
    (State.RUNNING, State.FAILED): {Reason.FAILED},
    (State.RUNNING, State.CANCELLED): {Reason.STOPPED},
    (State.RUNNING, State.RUNNING): {Reason.OVERDUE, Reason.STOP_REQUESTED, Reason.REPRIORITISED},
    (State.FAILED, State.SUCCEEDED): {Reason.MARKED_DONE},
    (State.CANCELLED, State.SUCCEEDED): {Reason.MARKED_DONE},
    (State.FAILED, State.PENDING): {Reason.REQUEUED},
    (State.CANCELLED, State.PENDING): {Reason.REQUEUED},
}


def test_every_reason_has_a_row_and_a_meaning() -> None:
    assert set(LIFECYCLE) == set(Reason)
    assert all(move.meaning for move in LIFECYCLE.values())


def test_states_are_either_unfinished_or_terminal() -> None:
    assert set(State) == UNFINISHED | TERMINAL
    assert not UNFINISHED & TERMINAL


@pytest.mark.parametrize("reason", Reason)
def test_is_legal_allows_these_moves_and_no_other(reason: Reason) -> None:
    for before, after in itertools.product([None, *State], State):
        assert is_legal(reason, before, after) == (reason in MOVES.get((before, after), set()))


def test_every_state_can_be_reached() -> None:
    reached = {move.target for move in LIFECYCLE.values() if not move.sources}
    while True:
        further = {move.target for move in LIFECYCLE.values() if move.target and move.sources & reached}
        if further <= reached:
            break
        reached |= further
    assert reached == set(State)


def test_every_state_but_success_can_be_left() -> None:
    left = {source for move in LIFECYCLE.values() if move.target is not None for source in move.sources}
    assert set(State) - left == {State.SUCCEEDED}


def test_every_unfinished_state_leads_to_every_terminal_one() -> None:
    leads = {state: {state} for state in State}
    for _ in State:
        for move in LIFECYCLE.values():
            for source in move.sources:
                leads[source] |= leads[move.target or source]
    for state in UNFINISHED:
        assert leads[state] >= TERMINAL


def test_sources_are_named_in_the_order_of_the_states() -> None:
    assert sources_of(Reason.REQUEUED) == ("failed", "cancelled")
    assert sources_of(Reason.REPRIORITISED) == ("pending", "ready", "running")
    assert sources_of(Reason.ENQUEUED) == ()


def test_a_move_without_a_target_stays() -> None:
    assert LIFECYCLE[Reason.OVERDUE] == Move(frozenset({State.RUNNING}), None, LIFECYCLE[Reason.OVERDUE].meaning)
