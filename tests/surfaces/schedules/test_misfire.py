"""Plans for missed fires under each policy, and their cost."""

import time
from itertools import islice, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hanbeon.domain.timing.fire_times import Timing
from hanbeon.surfaces.schedules.misfire import (
    BRIEF_US,
    COUNTED,
    ON_TIME,
    RECORDED,
    Misfire,
    MisfireOutcome,
    Plan,
    grace_of,
    plan,
)
from tests.domain.timing.instants import DAY, HOUR, MINUTE, SECOND, at

SEOUL = "Asia/Seoul"
NINE = at("2026-01-05 09:00", SEOUL)
GRACE = 30 * SECOND
DUE, COALESCED, MISSED = MisfireOutcome.DUE, MisfireOutcome.COALESCED, MisfireOutcome.MISSED


def every_ten_minutes(misfire: Misfire, *, last: int = NINE, now: int, limit: int = 100) -> Plan:
    return plan(Timing(cron="*/10 * * * *", timezone=SEOUL), last, now, misfire, limit, GRACE)


def minutes(made: Plan) -> list[tuple[int, MisfireOutcome]]:
    return [((fire.at - NINE) // MINUTE, fire.outcome) for fire in made.fires]


@pytest.mark.parametrize(
    ("misfire", "expected"),
    [
        (
            Misfire.COALESCE,
            [(10, COALESCED), (20, COALESCED), (30, COALESCED), (40, COALESCED), (50, COALESCED), (60, DUE)],
        ),
        (Misfire.SKIP, [(10, MISSED), (20, MISSED), (30, MISSED), (40, MISSED), (50, MISSED), (60, MISSED)]),
        (Misfire.ALL, [(10, DUE), (20, DUE), (30, DUE), (40, DUE), (50, DUE), (60, DUE)]),
    ],
)
def test_an_outage_of_an_hour(misfire: Misfire, expected: list[tuple[int, MisfireOutcome]]) -> None:
    made = every_ten_minutes(misfire, now=NINE + 65 * MINUTE)
    assert minutes(made) == expected
    assert made.last == NINE + 60 * MINUTE
    assert made.next_fire_at == NINE + 70 * MINUTE
    assert made.dropped is None


@pytest.mark.parametrize(
    ("misfire", "expected"),
    [
        (Misfire.COALESCE, [(10, COALESCED), (20, COALESCED), (30, DUE)]),
        (Misfire.SKIP, [(10, MISSED), (20, MISSED), (30, DUE)]),
        (Misfire.ALL, [(10, DUE), (20, DUE), (30, DUE)]),
    ],
)
@pytest.mark.parametrize("late", [0, 1, GRACE])
def test_fires_within_grace_are_on_time(
    misfire: Misfire, expected: list[tuple[int, MisfireOutcome]], late: int
) -> None:
    assert minutes(every_ten_minutes(misfire, now=NINE + 30 * MINUTE + late)) == expected


@pytest.mark.parametrize(
    ("cron", "after", "expected"),
    [
        ("* * * * * *", BRIEF_US, GRACE),
        ("* * * * * *", BRIEF_US + 2 * SECOND, 0),
        ("* * * * * *", BRIEF_US + 2 * SECOND + 7, 7),
        ("* * * * * *", DAY + 7, 7),
        ("*/10 * * * * *", 19 * SECOND, GRACE),
        ("*/10 * * * * *", 23 * SECOND, 3 * SECOND),
        ("* * * * *", MINUTE + 25 * SECOND, GRACE),
        ("* * * * *", 2 * MINUTE + 40 * SECOND, GRACE),
        ("* * * * *", 2 * MINUTE + 20 * SECOND, 20 * SECOND),
        ("0 0 1 1 *", HOUR, GRACE),
    ],
)
def test_only_the_newest_is_on_time_after_an_outage(cron: str, after: int, expected: int) -> None:
    assert grace_of(Timing(cron=cron, timezone=SEOUL), NINE, NINE + after, GRACE) == expected


@pytest.mark.parametrize(("misfire", "outcome"), [(Misfire.COALESCE, DUE), (Misfire.SKIP, MISSED), (Misfire.ALL, DUE)])
@pytest.mark.parametrize("timing", [Timing(run_at=NINE, timezone=SEOUL), Timing(cron="0 9 * * *", timezone=SEOUL)])
def test_grace_includes_its_last_instant(timing: Timing, misfire: Misfire, outcome: MisfireOutcome) -> None:
    on_time = plan(timing, NINE - HOUR, NINE + GRACE, misfire, 100, GRACE)
    assert [fire.outcome for fire in on_time.fires] == [DUE]
    late = plan(timing, NINE - HOUR, NINE + GRACE + 1, misfire, 100, GRACE)
    assert [(fire.at, fire.outcome) for fire in late.fires] == [(NINE, outcome)]
    assert late.next_fire_at == (None if timing.run_at else NINE + DAY)


def test_nothing_is_due_before_its_time_and_nothing_twice() -> None:
    early = every_ten_minutes(Misfire.COALESCE, now=NINE + 10 * MINUTE - 1)
    assert (early.fires, early.last, early.next_fire_at) == ([], NINE, NINE + 10 * MINUTE)
    due = every_ten_minutes(Misfire.COALESCE, now=NINE + 10 * MINUTE)
    assert minutes(due) == [(10, DUE)]
    again = every_ten_minutes(Misfire.COALESCE, last=due.last, now=NINE + 10 * MINUTE)
    assert (again.fires, again.next_fire_at) == ([], NINE + 20 * MINUTE)
    # A clock that went back, or an instance whose clock is behind, plans nothing.
    assert every_ten_minutes(Misfire.ALL, last=due.last, now=NINE - DAY).fires == []


def test_a_one_shot_is_over_after_its_fire() -> None:
    once = Timing(run_at=NINE, timezone=SEOUL)
    made = plan(once, NINE - 1, NINE, Misfire.COALESCE, 100, GRACE)
    assert [(fire.at, fire.outcome) for fire in made.fires] == [(NINE, DUE)]
    assert made.next_fire_at is None
    assert plan(once, made.last, NINE + DAY, Misfire.COALESCE, 100, GRACE).fires == []


def test_all_runs_the_newest_within_the_limit() -> None:
    made = every_ten_minutes(Misfire.ALL, now=NINE + 65 * MINUTE, limit=2)
    assert minutes(made) == [(10, MISSED), (20, MISSED), (30, MISSED), (40, MISSED), (50, DUE), (60, DUE)]
    assert minutes(every_ten_minutes(Misfire.ALL, now=NINE + 25 * MINUTE, limit=0)) == [(10, MISSED), (20, MISSED)]


@pytest.mark.parametrize(("misfire", "due"), [(Misfire.COALESCE, 1), (Misfire.SKIP, 0), (Misfire.ALL, 50)])
def test_unlisted_fires_are_counted(misfire: Misfire, due: int) -> None:
    """Three days of every ten minutes: 432 fires."""
    made = every_ten_minutes(misfire, now=NINE + 3 * DAY + MINUTE, limit=50)
    assert len(made.fires) == due + RECORDED
    assert [fire.outcome is DUE for fire in made.fires] == [False] * RECORDED + [True] * due
    assert made.dropped is not None
    assert (made.dropped.first, made.dropped.before) == (NINE + 10 * MINUTE, made.fires[0].at)
    assert (made.dropped.count, made.dropped.exact) == (432 - RECORDED - due, True)
    assert made.dropped.outcome is (COALESCED if misfire is Misfire.COALESCE else MISSED)
    assert made.fires[-1].at == NINE + 3 * DAY


@pytest.mark.parametrize("misfire", Misfire)
@pytest.mark.parametrize(
    "cron", ["* * * * * *", "*/7 * * * * *", "* * * * *", "* * 9 * * MON", "*/5 9-17 * * MON-FRI", "0 9 L * *"]
)
@pytest.mark.parametrize("zone", [SEOUL, "America/New_York"])
def test_a_year_without_any_instance_makes_a_small_plan_quickly(zone: str, cron: str, misfire: Misfire) -> None:
    timing = Timing(cron=cron, timezone=zone)
    now = NINE + 365 * DAY
    began = time.process_time()
    made = plan(timing, NINE, now, misfire, 100, GRACE)
    assert time.process_time() - began < 5
    assert len(made.fires) <= 100 + RECORDED + GRACE // SECOND + 1
    assert made.next_fire_at is not None
    assert made.next_fire_at > now
    # What is listed are the newest fires without a hole.
    listed = [fire.at for fire in made.fires]
    assert listed == [fire.at for fire in takewhile(lambda fire: fire.at <= now, timing.fires(listed[0] - 1))]
    if made.dropped is not None:
        assert made.dropped.before == listed[0]
        assert made.dropped.count == COUNTED or made.dropped.exact


def test_more_than_are_counted_is_said_to_be_more() -> None:
    made = plan(Timing(cron="* * * * * *", timezone=SEOUL), NINE, NINE + 365 * DAY, Misfire.SKIP, 100, GRACE)
    assert made.dropped is not None
    assert (made.dropped.first, made.dropped.count, made.dropped.exact) == (NINE + SECOND, COUNTED, False)


def test_excess_on_time_fires_follow_in_the_next_plan() -> None:
    timing = Timing(cron="* * * * * *", timezone=SEOUL)
    now, last, planned = NINE + HOUR, NINE, []
    following: int | None = NINE + SECOND
    while following is not None and following <= now:
        made = plan(timing, last, now, Misfire.SKIP, 100, 2 * HOUR)
        assert len(made.fires) <= ON_TIME
        assert {fire.outcome for fire in made.fires} == {DUE}
        planned += [fire.at for fire in made.fires]
        last, following = made.last, made.next_fire_at
    assert planned == list(range(NINE + SECOND, now + 1, SECOND))
    assert following == now + SECOND


@settings(max_examples=50)
@given(
    st.sampled_from(["* * * * *", "*/20 * * * * *", "* 9,21 * * *", "30 1 * * *", "0 0 * * MON"]),
    st.sampled_from([SEOUL, "America/New_York", "Australia/Lord_Howe"]),
    st.integers(0, 40 * DAY),
    st.sampled_from(Misfire),
    st.integers(0, 60),
    st.integers(0, 2 * HOUR),
)
def test_every_fire_is_listed_or_dropped_exactly_once(
    cron: str, zone: str, outage: int, misfire: Misfire, limit: int, grace: int
) -> None:
    timing = Timing(cron=cron, timezone=zone)
    last = at("2026-10-10", zone)
    now = last + outage
    passed = [fire.at for fire in takewhile(lambda fire: fire.at <= now, timing.fires(last))]
    made = plan(timing, last, now, misfire, limit, grace)
    listed = [fire.at for fire in made.fires]
    assert listed == passed[len(passed) - len(listed) :]
    unlisted = len(passed) - len(listed)
    if made.dropped is None:
        assert unlisted == 0
    else:
        assert made.dropped.count == min(unlisted, COUNTED)
        assert made.dropped.exact is (unlisted <= COUNTED)
        assert made.dropped.first == passed[0]
    on_time = [at_ for at_ in passed if at_ >= now - grace]
    late_due = [fire.at for fire in made.fires if fire.outcome is DUE and fire.at < now - grace]
    assert [fire.at for fire in made.fires if fire.outcome is DUE and fire.at >= now - grace] == on_time
    # One that is on time stands for those that are late.
    allowed = {Misfire.COALESCE: 0 if on_time else 1, Misfire.SKIP: 0, Misfire.ALL: limit}[misfire]
    late = [at_ for at_ in passed if at_ < now - grace]
    assert late_due == late[max(0, len(late) - allowed) :]
    following = next(islice(timing.fires(now), 1))
    assert made.next_fire_at == following.at
