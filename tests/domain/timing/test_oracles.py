"""Fires against three oracles: every minute of a window, cronsim's own walk, and croniter."""

import datetime as dt
import re
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter  # type: ignore[import-untyped]
from cronsim import CronSim
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hanbeon.domain.timing.cron import parse
from hanbeon.domain.timing.fire_times import ClockFold, ClockGap, NoteKind, Timing
from hanbeon.errors import InvalidInput
from tests.domain.timing.clocks import expected_fires, jumps, wall
from tests.domain.timing.expressions import ZONES, Drawn, expressions
from tests.domain.timing.instants import DAY, HOUR, MINUTE, SECOND, at, iso

_JUMPING = [zone for zone in ZONES if zone not in ("UTC", "Asia/Seoul", "Asia/Kolkata")]


# Both libraries misread a range of one: cronsim 5-5/2 as 5/2, croniter 5-5 as *. Here it is that one.
_SINGLE_RANGE = re.compile(r"\b(\d+)-\1\b")


@st.composite
def around_a_jump(draw: st.DrawFn) -> tuple[str, int]:
    """A zone, and an instant within three hours of one of its jumps."""
    zone = draw(st.sampled_from(_JUMPING))
    return zone, draw(st.sampled_from(jumps(zone))) + draw(st.integers(-180, 180)) * MINUTE


@settings(max_examples=100)
@given(
    expressions(busy=True),
    around_a_jump(),
    st.sampled_from([None, *ClockGap]),
    st.sampled_from([None, *ClockFold]),
    st.integers(0, MINUTE - 1),
)
def test_nothing_is_left_out_and_nothing_added_around_a_jump(
    drawn: Drawn, place: tuple[str, int], gap: ClockGap | None, fold: ClockFold | None, past: int
) -> None:
    """From any instant around a jump, under each policy, the fires are those that a look at each minute finds."""
    zone, start = place
    timing = Timing(cron=drawn.text, timezone=zone, gap=gap, fold=fold)
    (expression,) = parse(drawn.text)
    minutes = expected_fires(
        drawn.matches,
        zone,
        start - 8 * HOUR,
        start + 8 * HOUR,
        gap or (ClockGap.FIRE if expression.fixed else ClockGap.SKIP),
        fold or (ClockFold.FIRST if expression.fixed else ClockFold.BOTH),
    )
    expected = [instant for instant in minutes if start + past < instant <= start + 5 * HOUR]
    found = []
    for fire in timing.fires(start + past):
        if fire.at > start + 5 * HOUR:
            break
        found.append(fire.at)
        assert (fire.note is not None and fire.note.kind is NoteKind.GAP) or drawn.matches(wall(fire.at, zone))
    assert found == expected


@settings(max_examples=100)
@given(expressions(busy=False), st.sampled_from(ZONES), st.integers(0, at("2090-01-01")))
def test_fires_only_go_forward_and_match_or_say_why_not(drawn: Drawn, zone: str, after: int) -> None:
    timing = _timing(drawn.text, zone)
    last = after
    for fire in islice(timing.fires(after), 5):
        assert fire.at > last
        assert fire.at % SECOND == 0
        assert drawn.matches(wall(fire.at, zone)) or (fire.note is not None and fire.note.kind is NoteKind.GAP)
        assert timing.next_fire(fire.at - 1) == fire
        last = fire.at


@settings(max_examples=100)
@given(expressions(busy=False), st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1)))
def test_wall_times_are_those_of_the_librarys_own_walk(drawn: Drawn, start: dt.datetime) -> None:
    start = start.replace(microsecond=0)
    assume(not _SINGLE_RANGE.search(drawn.text))
    (expression,) = parse(_timing(drawn.text, "UTC").cron or "")
    assert expression.next_wall(start) == next(CronSim(drawn.text, start))


@settings(max_examples=100)
@given(
    st.sampled_from(
        ["0 0 L * *", "0 0 LW 2 *", "0 0 * * 5L", "0 0 * 2 TUE#5", "7,*/13 59 23 L 2 *", "0 0 1,L * SUN#1"]
    ),
    st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1)),
)
def test_special_days_are_those_of_the_librarys_own_walk(text: str, start: dt.datetime) -> None:
    (expression,) = parse(text)
    assert expression.next_wall(start.replace(microsecond=0)) == next(CronSim(text, start))


@settings(max_examples=100)
@given(expressions(busy=False), st.integers(at("2000-01-01") // MINUTE, at("2036-12-01") // MINUTE))
@example(Drawn("0 0 * 2 1", lambda _: True), at("2026-01-01") // MINUTE)
def test_croniter_agrees_where_no_clock_jumps(drawn: Drawn, start: int) -> None:
    after = start * MINUTE
    assume(not _SINGLE_RANGE.search(drawn.text))
    other = _croniter(drawn.text, after, "UTC")
    timing = _timing(drawn.text, "UTC")
    assert [fire.at for fire in islice(timing.fires(after), 5)] == [other() for _ in range(5)]


@settings(max_examples=100)
@given(expressions(busy=True), st.sampled_from(_JUMPING), st.data())
def test_croniter_agrees_in_every_zone_away_from_jumps(drawn: Drawn, zone: str, data: st.DataObject) -> None:
    """Up to a jump and from a day behind it; what happens between is decided below, and by the oracle above."""
    assume(not _SINGLE_RANGE.search(drawn.text))
    jump = data.draw(st.sampled_from(jumps(zone)))
    for after, until in ((jump - 2 * DAY, jump - 26 * HOUR), (jump + 26 * HOUR, jump + 2 * DAY)):
        other = _croniter(drawn.text, after, zone)
        for fire in islice(_timing(drawn.text, zone).fires(after), 40):
            if fire.at > until:
                break
            assert iso(fire.at, zone) == iso(other(), zone)


NEW_YORK = "America/New_York"
DIFFERENCES = [
    # Reason, expression, zone, after; what fires here; what croniter says.
    (
        "a fixed time that comes twice fires in the first pass only: a daily job runs once a day",
        ("30 1 * * *", NEW_YORK, "2026-11-01T00:00-04:00"),
        ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"],
        ["2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00"],
    ),
    (
        "with * at the start of minute or hour nothing moves: what the clocks skip is skipped",
        ("15 */2 * * *", NEW_YORK, "2026-03-08T00:00-05:00"),
        ["2026-03-08T00:15:00-05:00", "2026-03-08T04:15:00-04:00"],
        ["2026-03-08T00:15:00-05:00", "2026-03-08T03:00:00-04:00"],
    ),
    (
        "a range of one is that one",
        ("5-5 * * * *", "UTC", "2026-01-01T00:00+00:00"),
        ["2026-01-01T00:05:00+00:00", "2026-01-01T01:05:00+00:00"],
        ["2026-01-01T00:01:00+00:00", "2026-01-01T00:02:00+00:00"],
    ),
    (
        "*/2 begins with a star, so that it does not count as restricted (cron's rule; croniter has an option for it)",
        ("0 0 */2 * FRI", "UTC", "2026-01-01T00:00+00:00"),
        ["2026-01-09T00:00:00+00:00", "2026-01-23T00:00:00+00:00"],
        ["2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00"],
    ),
    (
        "seconds come first, as in Quartz and Spring (croniter has an option for it)",
        ("30 0 9 * * *", "UTC", "2026-01-01T00:00+00:00"),
        ["2026-01-01T09:00:30+00:00", "2026-01-02T09:00:30+00:00"],
        None,
    ),
]


@pytest.mark.parametrize(("reason", "asked", "ours", "theirs"), DIFFERENCES, ids=[each[0][:40] for each in DIFFERENCES])
def test_known_differences_from_croniter_are_decided(
    reason: str, asked: tuple[str, str, str], ours: list[str], theirs: list[str] | None
) -> None:
    text, zone, after = asked
    assert [iso(fire.at, zone) for fire in islice(Timing(cron=text, timezone=zone).fires(at(after)), 2)] == ours, reason
    walk = croniter(text, dt.datetime.fromisoformat(after).astimezone(ZoneInfo(zone)))
    said = [walk.get_next(dt.datetime).isoformat() for _ in range(2)]
    assert said != ours, f"no longer a difference: {reason}"
    assert theirs is None or said == theirs


REFUSED_HERE = [
    ("0 0 * * FRI-MON", "a range that goes round hides slips like 30-10; the message says how to write it"),
    ("30-10 * * * *", "the same"),
    ("*/90 * * * *", "it reads like every 90 minutes and would fire every hour"),
    ("0 0 * * L5", "written 5L here, as in Quartz"),
]
REFUSED_THERE = ["0 0 LW * *", "0 0 * * 5L", "0 0 1 * 5L,2"]


@pytest.mark.parametrize(("text", "reason"), REFUSED_HERE)
def test_rejects_extensions_of_croniter(text: str, reason: str) -> None:
    assert croniter.is_valid(text)
    with pytest.raises(InvalidInput):
        parse(text)


@pytest.mark.parametrize("text", REFUSED_THERE)
def test_accepts_forms_unknown_to_croniter(text: str) -> None:
    assert parse(text)
    assert not croniter.is_valid(text)


class _croniter:
    """croniter, asked in cron's way: the next fire at each call."""

    def __init__(self, text: str, after: int, zone: str) -> None:
        start = dt.datetime.fromtimestamp(after // SECOND, ZoneInfo(zone))
        self._walk = croniter(
            text, start, implement_cron_bug=True, second_at_beginning=True, max_years_between_matches=60
        )

    def __call__(self) -> int:
        return int(self._walk.get_next(float)) * SECOND


def _timing(text: str, zone: str) -> Timing:
    """The timing of an expression, unless it never fires."""
    try:
        parse(text)
    except InvalidInput as error:
        if "never fires" not in str(error):
            raise
        assume(False)
    return Timing(cron=text, timezone=zone)
