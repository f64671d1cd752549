"""Deltas of events, compared with counting one event after the other."""

from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.events import PRUNED, QUEUE_CHANGED, Event, moved
from hanbeon.domain.lifecycle import LIFECYCLE, AttemptStatus, Reason, State
from hanbeon.domain.tally import Count, Delta, Flow, Stock, tally

ENDS = [AttemptStatus.FAILED.value, AttemptStatus.TIMEOUT.value]


@st.composite
def moves(draw: st.DrawFn) -> Event:
    reason = draw(st.sampled_from(Reason))
    move = LIFECYCLE[reason]
    was = draw(st.sampled_from(sorted(move.sources))) if move.sources else None
    return moved(
        reason,
        at=1,
        queue=draw(st.sampled_from(["a", "b"])),
        job_id="j",
        task="t",
        state=move.target or was or State.READY,
        was=was,
        took=None if reason is Reason.MARKED_DONE else draw(st.none() | st.integers(0, 10**9)),
        status=draw(st.sampled_from(ENDS)),
    )


@given(st.lists(moves(), max_size=50))
def test_a_tally_is_what_the_events_add_up_to(events: list[Event]) -> None:
    deltas = tally(events)
    for queue in ("a", "b"):
        delta, mine = deltas.get(queue, Delta()), [event for event in events if event.queue == queue]
        expected: Counter[State] = Counter(event.state for event in mine if event.state)
        expected.subtract(event.was for event in mine if event.was)
        assert delta.stock.states == {state: change for state, change in expected.items() if change}
        ends = [event for event in mine if event.state is State.SUCCEEDED]
        assert delta.stock.ran == sum(event.took or 0 for event in ends)
        counts = delta.flow.counts
        assert counts.get(Count.SUCCEEDED, 0) == len(ends)
        assert counts.get(Count.ENQUEUED, 0) == sum(event.was is None for event in mine)
        for state, count in ((State.FAILED, Count.FAILED), (State.CANCELLED, Count.CANCELLED)):
            assert counts.get(count, 0) == sum(event.state is state and event.was is not state for event in mine)
        late = [event for event in mine if event.type in ("retried", "failed") and event.details["status"] == "timeout"]
        assert counts.get(Count.TIMED_OUT, 0) == len(late)
        claims = [event for event in mine if event.type == "claimed" and event.took is not None]
        assert counts.get(Count.STARTED, 0) == sum(event.type == "claimed" for event in mine)
        assert sum(delta.flow.waits.values()) == len(claims)


@given(st.lists(moves(), max_size=30), st.integers(0, 30))
def test_the_tallies_of_two_parts_add_up_to_that_of_the_whole(events: list[Event], cut: int) -> None:
    whole, parts = tally(events), [tally(events[:cut]), tally(events[cut:])]
    for queue in ("a", "b"):
        stock, flow = Stock(), Flow()
        for part in parts:
            stock.add(part.get(queue, Delta()).stock)
            flow.add(part.get(queue, Delta()).flow)
        expected = whole.get(queue, Delta())
        assert {state: n for state, n in stock.states.items() if n} == expected.stock.states
        assert (stock.ran, flow) == (expected.stock.ran, expected.flow)


@given(st.lists(moves(), max_size=20))
def test_a_tally_survives_being_written_down(events: list[Event]) -> None:
    deltas = tally(events)
    assert msgspec.json.decode(msgspec.json.encode(deltas), type=dict[str, Delta]) == deltas


def test_pruned_jobs_are_subtracted() -> None:
    event = Event(type=PRUNED, at=1, queue="a", details={"states": {"succeeded": 2, "failed": 1}, "ran": 50})
    assert tally([event])["a"].stock == Stock({State.SUCCEEDED: -2, State.FAILED: -1}, -50)


def test_events_that_move_nothing_still_name_their_queue() -> None:
    fields = {"at": 1, "queue": "a", "job_id": "j", "task": "t", "state": State.RUNNING}
    still = moved(Reason.OVERDUE, **fields)  # type: ignore[arg-type]
    assert tally([still, Event(type=QUEUE_CHANGED, at=1, queue="a"), Event(type="unheard_of", at=1, queue="a")]) == {
        "a": Delta()
    }
