"""The sweep finds exactly the starts that a limit or a pause forbade."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.audit.findings import Code
from hanbeon.domain.audit.sweep import (
    GRACE_US,
    STILL_RUNNING,
    Interval,
    Lane,
    SlotChange,
    Timeline,
    pack_interval,
    sweep,
    unpack_interval,
)
from hanbeon.domain.limits import QueueLimits

LONG_AGO = -10 * GRACE_US
Ran = tuple[str, str, str, int, int]


def found(timeline: Timeline, *ran: Ran, code: Code = Code.LIMIT_EXCEEDED) -> list[str]:
    """The jobs that should not have started, in the order of their starts."""
    names = {UUID(int=n).bytes: job for n, (job, *_) in enumerate(ran)}
    lanes = {n: Lane(role, key) for n, (_, role, key, _, _) in enumerate(ran)}
    records = [
        pack_interval(1, Interval(start, end, UUID(int=n).bytes, 1, n)) for n, (_, _, _, start, end) in enumerate(ran)
    ]
    intervals = [unpack_interval(record)[1] for record in sorted(records)]
    findings = [finding for finding in sweep("q", timeline, intervals, lanes) if finding.code is code]
    return [names[UUID(finding.job_id or "").bytes] for finding in findings]


def limited(max_concurrent: int = 0, at: int = LONG_AGO, **limits: object) -> Timeline:
    return changed((at, QueueLimits(max_concurrent, **limits), False))  # type: ignore[arg-type]


def changed(*changes: tuple[int, QueueLimits, bool], whole: bool = True) -> Timeline:
    return Timeline([SlotChange(at=at, limits=limits, paused=paused) for at, limits, paused in changes], whole=whole)


def test_one_more_than_the_limit_is_found_and_named() -> None:
    assert found(limited(1), ("a", "", "", 0, 10), ("b", "", "", 5, 15), ("c", "", "", 15, 20)) == ["b"]


def test_an_end_makes_room_for_a_start_at_the_same_instant() -> None:
    assert found(limited(1), ("a", "", "", 0, 10), ("b", "", "", 10, 20)) == []


def test_an_attempt_of_no_length_takes_no_room_but_needs_it() -> None:
    assert found(limited(1), ("a", "", "", 5, 5), ("b", "", "", 5, 9)) == []
    assert found(limited(1), ("a", "", "", 0, 9), ("b", "", "", 5, 5)) == ["b"]


def test_running_attempts_occupy_their_slot() -> None:
    assert found(limited(1), ("a", "", "", 0, STILL_RUNNING), ("b", "", "", 10**15, STILL_RUNNING)) == ["b"]


def test_roles_and_keys_are_counted_by_themselves() -> None:
    ran = [("a", "FE", "", 0, 9), ("b", "BE", "", 1, 9), ("c", "FE", "", 2, 9), ("d", "", "", 3, 9)]
    assert found(limited(roles={"FE": 1}), *ran) == ["c"]
    ran = [("a", "", "k", 0, 9), ("b", "", "l", 1, 9), ("c", "", "k", 2, 9), ("d", "", "l", 3, 9)]
    assert found(limited(max_per_key=1, keys={"l": 2}), *ran) == ["c"]


def test_a_lowered_limit_stops_nobody_but_lets_nobody_in() -> None:
    timeline = changed((LONG_AGO, QueueLimits(2), False), (5, QueueLimits(1), False))
    ran = [("a", "", "", 0, 10), ("b", "", "", 1, 20), ("c", "", "", 11, 12), ("d", "", "", 20, 30)]
    assert found(timeline, *ran) == ["c"]


def test_from_limit_to_limit_it_is_exact() -> None:
    timeline = changed((LONG_AGO, QueueLimits(2), False), (5, QueueLimits(1), False))
    assert found(timeline, ("a", "", "", 0, 10), ("b", "", "", 6, 10)) == ["b"]
    assert found(timeline, ("a", "", "", 0, 10), ("b", "", "", 4, 10)) == []
    # In the very microsecond of the change, either limit will do.
    assert found(timeline, ("a", "", "", 0, 10), ("b", "", "", 5, 10)) == []


def test_claims_under_way_when_the_first_limit_came_are_let_pass() -> None:
    first, running = limited(1, at=0), ("a", "", "", -5, STILL_RUNNING)
    assert found(first, running, ("b", "", "", GRACE_US - 1, STILL_RUNNING)) == []
    assert found(first, running, ("b", "", "", GRACE_US, STILL_RUNNING)) == ["b"]
    # A second limit within the second changes nothing about that; one after a time without limits begins anew.
    again = changed((0, QueueLimits(2), False), (10, QueueLimits(1), False))
    assert found(again, running, ("b", "", "", 20, 30), ("c", "", "", GRACE_US, GRACE_US + 1)) == ["c"]
    opened = changed((LONG_AGO, QueueLimits(1), False), (0, QueueLimits(), False), (10, QueueLimits(1), False))
    assert found(opened, running, ("b", "", "", 20, 30)) == []


def test_limits_before_the_first_change_are_none_or_unknown() -> None:
    ran = [("a", "", "", 0, 9), ("b", "", "", 1, 9), ("c", "", "", 3 * GRACE_US, 4 * GRACE_US)]
    for whole in (True, False):
        timeline = changed((100, QueueLimits(1), True), whole=whole)
        assert timeline.matters
        assert found(timeline, *ran) == []
        assert found(timeline, *ran, code=Code.STARTED_WHILE_PAUSED) == ["c"]


def test_a_pause_holds_from_a_second_after_it_to_the_resumption() -> None:
    timeline = changed(
        (0, QueueLimits(), True), (5 * GRACE_US, QueueLimits(1), True), (9 * GRACE_US, QueueLimits(), False)
    )
    ran = [(str(start), "", "", start * GRACE_US, start * GRACE_US + 1) for start in range(-1, 11)]
    assert found(timeline, *ran, code=Code.STARTED_WHILE_PAUSED) == [str(start) for start in range(2, 9)]


def test_a_queue_that_never_forbade_anything_does_not_matter() -> None:
    assert not changed((0, QueueLimits(), False)).matters
    assert changed((0, QueueLimits(), True)).matters
    assert limited(1).matters


@given(
    st.integers(0, 3),
    st.integers(0, 2),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6), st.sampled_from(["", "r"])), max_size=8),
)
def test_the_sweep_agrees_with_counting(most: int, of_role: int, ran: list[tuple[int, int, str]]) -> None:
    rows: list[Ran] = [(str(n), role, "", start, start + length) for n, (start, length, role) in enumerate(ran)]

    def full(job: Ran) -> bool:
        before = [each for each in rows if _order(each) < _order(job) and each[4] > job[3]]
        of_same_role = [each for each in before if each[1] == job[1]]
        return bool(0 < most <= len(before) or (job[1] and 0 < of_role <= len(of_same_role)))

    expected = [job[0] for job in sorted(rows, key=_order) if full(job)]
    assert found(limited(most, roles={"r": of_role}), *rows) == expected


def _order(ran: Ran) -> tuple[int, int, int]:
    """Of two that start at the same instant, the one that ends first is taken to have been first."""
    return ran[3], ran[4], int(ran[0])
