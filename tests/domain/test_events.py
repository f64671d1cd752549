"""Events of moves."""

import pytest

from hanbeon.domain.events import event_factory, moved
from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State


@pytest.mark.parametrize("reason", Reason)
def test_previous_state_is_derived_or_required(reason: Reason) -> None:
    move = LIFECYCLE[reason]
    fields = {"at": 1, "queue": "q", "job_id": "j", "task": "t", "state": move.target or State.RUNNING}
    if len(move.sources) > 1:
        with pytest.raises(KeyError):
            moved(reason, **fields)  # type: ignore[arg-type]
    else:
        assert moved(reason, **fields).was == next(iter(move.sources), None)  # type: ignore[arg-type]
    for source in move.sources:
        assert moved(reason, was=source, **fields).was is source  # type: ignore[arg-type]


def test_no_span_is_negative() -> None:
    event = moved(Reason.CLAIMED, at=1, queue="q", job_id="j", task="t", state=State.RUNNING, took=-5)
    assert event.took == 0


def test_event_factory_omits_details_that_are_none() -> None:
    build = event_factory(Reason.SUCCEEDED, State.SUCCEEDED, status="completed", message=None)
    fields = {"at": 5, "queue": "q", "task": "t", "state": State.SUCCEEDED, "attempt": 2, "took": 3}
    for job_id in ("a", "b"):
        assert build(5, "q", job_id, "t", 2, 3) == moved(Reason.SUCCEEDED, job_id=job_id, status="completed", **fields)  # type: ignore[arg-type]
    assert build(5, "q", "a", "t").details == {"status": "completed"}
    assert build(5, "q", "a", "t", 2, -1).took == 0
