"""What an event says of a move."""

import pytest

from hanbeon.domain.events import moved
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
