"""What an event says of a move."""

import pytest

from hanbeon.domain.events import moved, teller
from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State


@pytest.mark.parametrize("reason", Reason)
def test_the_state_before_comes_from_the_lifecycle_or_must_be_given(reason: Reason) -> None:
    move = LIFECYCLE[reason]
    told = {"at": 1, "queue": "q", "job_id": "j", "task": "t", "state": move.target or State.RUNNING}
    if len(move.sources) > 1:
        with pytest.raises(KeyError):
            moved(reason, **told)  # type: ignore[arg-type]
    else:
        assert moved(reason, **told).was == next(iter(move.sources), None)  # type: ignore[arg-type]
    for source in move.sources:
        assert moved(reason, was=source, **told).was is source  # type: ignore[arg-type]


def test_no_span_is_negative() -> None:
    event = moved(Reason.CLAIMED, at=1, queue="q", job_id="j", task="t", state=State.RUNNING, took=-5)
    assert event.took == 0


def test_a_teller_makes_the_events_of_many_moves_and_leaves_out_what_is_none() -> None:
    tell = teller(Reason.SUCCEEDED, State.SUCCEEDED, status="completed", message=None)
    told = {"at": 5, "queue": "q", "task": "t", "state": State.SUCCEEDED, "attempt": 2, "took": 3}
    for job_id in ("a", "b"):
        assert tell(5, "q", job_id, "t", 2, 3) == moved(Reason.SUCCEEDED, job_id=job_id, status="completed", **told)  # type: ignore[arg-type]
    assert tell(5, "q", "a", "t").details == {"status": "completed"}
    assert tell(5, "q", "a", "t", 2, -1).took == 0
