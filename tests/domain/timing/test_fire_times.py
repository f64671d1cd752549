"""When schedules fire in places whose clocks jump, and at the ends of the calendar."""

import datetime as dt
from itertools import islice, takewhile

import pytest

from hanbeon.domain.timing.fire_times import ClockFold, ClockGap, NoteKind, Timing, jitter_of
from tests.domain.timing.instants import DAY, HOUR, MINUTE, SECOND, at, first, iso

NEW_YORK, BERLIN, SEOUL, LORD_HOWE = "America/New_York", "Europe/Berlin", "Asia/Seoul", "Australia/Lord_Howe"


def days(begin: str, end: str, time: str) -> list[str]:
    """A fixed time on every day of a range."""
    one, other = dt.date.fromisoformat(begin), dt.date.fromisoformat(end)
    return [f"{one + dt.timedelta(days=n)}T{time}" for n in range((other - one).days + 1)]


def year(timing: Timing) -> list[str]:
    begin, end = at("2026-01-01", timing.timezone), at("2027-01-01", timing.timezone)
    return [iso(fire.at, timing.timezone) for fire in takewhile(lambda fire: fire.at < end, timing.fires(begin - 1))]


@pytest.mark.parametrize(
    ("zone", "cron", "expected"),
    [
        (SEOUL, "30 2 * * *", days("2026-01-01", "2026-12-31", "02:30:00+09:00")),
        (
            NEW_YORK,
            "30 2 * * *",
            [
                *days("2026-01-01", "2026-03-07", "02:30:00-05:00"),
                "2026-03-08T03:00:00-04:00",
                *days("2026-03-09", "2026-10-31", "02:30:00-04:00"),
                *days("2026-11-01", "2026-12-31", "02:30:00-05:00"),
            ],
        ),
        (
            NEW_YORK,
            "30 1 * * *",
            [
                *days("2026-01-01", "2026-03-08", "01:30:00-05:00"),
                *days("2026-03-09", "2026-11-01", "01:30:00-04:00"),
                *days("2026-11-02", "2026-12-31", "01:30:00-05:00"),
            ],
        ),
        (
            BERLIN,
            "30 2 * * *",
            [
                *days("2026-01-01", "2026-03-28", "02:30:00+01:00"),
                "2026-03-29T03:00:00+02:00",
                *days("2026-03-30", "2026-10-25", "02:30:00+02:00"),
                *days("2026-10-26", "2026-12-31", "02:30:00+01:00"),
            ],
        ),
        (
            LORD_HOWE,
            "15 2 * * *",
            [
                *days("2026-01-01", "2026-04-04", "02:15:00+11:00"),
                *days("2026-04-05", "2026-10-03", "02:15:00+10:30"),
                "2026-10-04T02:30:00+11:00",
                *days("2026-10-05", "2026-12-31", "02:15:00+11:00"),
            ],
        ),
        (
            LORD_HOWE,
            "45 1 * * *",
            [
                *days("2026-01-01", "2026-04-05", "01:45:00+11:00"),
                *days("2026-04-06", "2026-10-04", "01:45:00+10:30"),
                *days("2026-10-05", "2026-12-31", "01:45:00+11:00"),
            ],
        ),
    ],
)
def test_a_year_of_a_daily_schedule(zone: str, cron: str, expected: list[str]) -> None:
    assert year(Timing(cron=cron, timezone=zone)) == expected


@pytest.mark.parametrize("zone", [SEOUL, NEW_YORK, BERLIN])
def test_an_hourly_schedule_follows_real_time_through_a_year(zone: str) -> None:
    fires = list(islice(Timing(cron="@hourly", timezone=zone).fires(at("2026-01-01", zone) - 1), 365 * 24))
    assert [fire.at for fire in fires] == [at("2026-01-01", zone) + n * HOUR for n in range(365 * 24)]


def test_half_an_hour_comes_again_or_goes_missing_on_lord_howe() -> None:
    half_hourly = Timing(cron="*/30 * * * *", timezone=LORD_HOWE)
    assert first(half_hourly, "2026-04-05 01:00", 4) == [
        "2026-04-05T01:30:00+11:00",
        "2026-04-05T01:30:00+10:30",
        "2026-04-05T02:00:00+10:30",
        "2026-04-05T02:30:00+10:30",
    ]
    assert first(half_hourly, "2026-10-04 01:00", 3) == [
        "2026-10-04T01:30:00+10:30",
        "2026-10-04T02:30:00+11:00",
        "2026-10-04T03:00:00+11:00",
    ]


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("0,15,30,45 2 * * *", ["2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"]),
        ("* 30 2 * * *", ["2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"]),
        ("0 2,3 * * *", ["2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"]),
        ("15 2,3 * * *", ["2026-03-08T03:00:00-04:00", "2026-03-08T03:15:00-04:00"]),
        ("*/15 2 * * *", ["2026-03-09T02:00:00-04:00", "2026-03-09T02:15:00-04:00"]),
        ("30 2 8 3 *", ["2026-03-08T03:00:00-04:00", "2027-03-08T02:30:00-05:00"]),
    ],
)
def test_skipped_times_fire_once_at_the_jump(cron: str, expected: list[str]) -> None:
    assert first(Timing(cron=cron, timezone=NEW_YORK), "2026-03-08 00:30", 2) == expected


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (ClockGap.FIRE, ["2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"]),
        (ClockGap.SKIP, ["2026-03-09T02:30:00-04:00", "2026-03-10T02:30:00-04:00"]),
    ],
)
@pytest.mark.parametrize("cron", ["30 2 * * *", "*/60 2 * * *"])
def test_a_schedule_may_say_what_happens_in_a_gap(cron: str, gap: ClockGap, expected: list[str]) -> None:
    found = first(Timing(cron=cron, timezone=NEW_YORK, gap=gap), "2026-03-08 00:00", 2)
    assert found == [each.replace(":30:00", ":00:00") if "*" in cron[:1] else each for each in expected]


@pytest.mark.parametrize(
    ("fold", "expected"),
    [
        (ClockFold.FIRST, ["2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00", "2026-11-02T01:00:00-05:00"]),
        (ClockFold.SECOND, ["2026-11-01T01:00:00-05:00", "2026-11-01T01:30:00-05:00", "2026-11-02T01:00:00-05:00"]),
        (
            ClockFold.BOTH,
            [
                "2026-11-01T01:00:00-04:00",
                "2026-11-01T01:30:00-04:00",
                "2026-11-01T01:00:00-05:00",
                "2026-11-01T01:30:00-05:00",
                "2026-11-02T01:00:00-05:00",
            ],
        ),
    ],
)
@pytest.mark.parametrize("cron", ["0,30 1 * * *", "*/30 1 * * *"])
def test_a_schedule_may_say_what_happens_in_a_fold(cron: str, fold: ClockFold, expected: list[str]) -> None:
    assert first(Timing(cron=cron, timezone=NEW_YORK, fold=fold), "2026-11-01 00:00", len(expected)) == expected


@pytest.mark.parametrize(
    ("after", "fold", "expected"),
    [
        ("01:10:00-04:00", ClockFold.FIRST, "2026-11-01T01:30:00-04:00"),
        ("01:30:00-04:00", ClockFold.FIRST, "2026-11-02T01:30:00-05:00"),
        ("01:10:00-05:00", ClockFold.FIRST, "2026-11-02T01:30:00-05:00"),
        ("01:10:00-04:00", ClockFold.SECOND, "2026-11-01T01:30:00-05:00"),
        ("01:50:00-04:00", ClockFold.SECOND, "2026-11-01T01:30:00-05:00"),
        ("01:30:00-05:00", ClockFold.SECOND, "2026-11-02T01:30:00-05:00"),
        ("01:10:00-04:00", ClockFold.BOTH, "2026-11-01T01:30:00-04:00"),
        ("01:30:00-04:00", ClockFold.BOTH, "2026-11-01T01:30:00-05:00"),
        ("01:50:00-04:00", ClockFold.BOTH, "2026-11-01T01:30:00-05:00"),
        ("01:10:00-05:00", ClockFold.BOTH, "2026-11-01T01:30:00-05:00"),
        ("01:30:00-05:00", ClockFold.BOTH, "2026-11-02T01:30:00-05:00"),
    ],
)
def test_a_search_may_begin_anywhere_in_a_repeated_hour(after: str, fold: ClockFold, expected: str) -> None:
    fire = Timing(cron="30 1 * * *", timezone=NEW_YORK, fold=fold).next_fire(at(f"2026-11-01T{after}"))
    assert fire is not None
    assert iso(fire.at, NEW_YORK) == expected


def test_notes_say_what_is_odd_about_a_fire() -> None:
    def notes(timing: Timing, after: str, count: int) -> list[tuple[NoteKind, str] | None]:
        fires = islice(timing.fires(at(after, timing.timezone)), count)
        return [(fire.note.kind, fire.note.text) if fire.note else None for fire in fires]

    assert notes(Timing(cron="30 2 * * *", timezone=NEW_YORK), "2026-03-07 12:00", 2) == [
        (NoteKind.GAP, "02:30 does not exist on 2026-03-08; fires at 03:00, when the clocks jump"),
        None,
    ]
    assert notes(Timing(cron="0 9 30 12 *", timezone="Pacific/Apia"), "2011-01-01", 2) == [
        (NoteKind.GAP, "09:00 does not exist on 2011-12-30; fires at 2011-12-31 00:00, when the clocks jump"),
        None,
    ]
    assert notes(Timing(cron="5 30 1 * * *", timezone=NEW_YORK, fold=ClockFold.BOTH), "2026-11-01 00:00", 3) == [
        (NoteKind.FOLD_FIRST, "01:30:05 comes twice on 2026-11-01; this is the first"),
        (NoteKind.FOLD_SECOND, "01:30:05 comes twice on 2026-11-01; this is the second"),
        None,
    ]


@pytest.mark.parametrize("fold", [None, *ClockFold])
@pytest.mark.parametrize("cron", ["30 1 * * *", "0 1 * * *", "59 59 1 * * *", "*/7 * * * *", "* * * * * *"])
def test_fires_increase_throughout_a_repeated_hour(cron: str, fold: ClockFold | None) -> None:
    """cronsim 2.8, asked from the second pass, may answer with a time of the first."""
    timing = Timing(cron=cron, timezone=NEW_YORK, fold=fold)
    begin = at("2026-11-01T00:59-04:00")
    for after in range(begin, begin + 3 * HOUR, 61 * SECOND):
        for instant in (after, after + 1, after + 999_999):
            fire = timing.next_fire(instant)
            assert fire is not None
            assert fire.at > instant


def test_fires_right_after_a_repeated_hour_are_normal() -> None:
    timing = Timing(cron="0 2 * * *", timezone=NEW_YORK, fold=ClockFold.BOTH)
    fire = timing.next_fire(at("2026-11-01T01:50-04:00"))
    assert fire is not None
    assert (iso(fire.at, NEW_YORK), fire.note) == ("2026-11-01T02:00:00-05:00", None)


def test_several_expressions_fire_when_any_of_them_does() -> None:
    timing = Timing(cron="0 9 * * MON-FRI | 0 11 * * SAT,SUN | 0 9 9 * *", timezone=SEOUL)
    assert first(timing, "2026-01-08 09:00", 4) == [
        "2026-01-09T09:00:00+09:00",
        "2026-01-10T11:00:00+09:00",
        "2026-01-11T11:00:00+09:00",
        "2026-01-12T09:00:00+09:00",
    ]


def test_each_expression_is_fixed_or_interval_by_itself() -> None:
    timing = Timing(cron="30 2 * * * | */30 2 * * *", timezone=NEW_YORK)
    assert first(timing, "2026-03-08 00:00", 2) == ["2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"]


@pytest.mark.parametrize("cron", ["30 2 * * * | 0 3 * * *", "0 3 * * * | 30 2 * * *", "30 2 * * * | */60 * * * *"])
def test_one_fire_of_two_expressions_says_what_either_has_to_say(cron: str) -> None:
    fire = Timing(cron=cron, timezone=NEW_YORK).next_fire(at("2026-03-08T01:30-05:00"))
    assert fire is not None
    assert iso(fire.at, NEW_YORK) == "2026-03-08T03:00:00-04:00"
    assert fire.note is not None
    assert fire.note.kind is NoteKind.GAP


def test_start_and_end_are_included() -> None:
    nine = at("2026-01-05 09:00", SEOUL)
    timing = Timing(cron="0 9 * * *", timezone=SEOUL, starts_at=nine, ends_at=nine + 2 * DAY)
    assert [fire.at for fire in timing.fires(0)] == [nine, nine + DAY, nine + 2 * DAY]
    assert timing.next_fire(nine) == timing.next_fire(nine + 1)
    assert timing.next_fire(nine + 2 * DAY) is None
    later = Timing(cron="0 9 * * *", timezone=SEOUL, starts_at=nine + 1, ends_at=nine + 2 * DAY - 1)
    assert [fire.at for fire in later.fires(0)] == [nine + DAY]


def test_an_instant_fires_once() -> None:
    noon = at("2026-01-05T12:00:00.000001+09:00")
    timing = Timing(run_at=noon, timezone=SEOUL)
    assert [fire.at for fire in timing.fires(0)] == [noon]
    assert timing.next_fire(noon - 1) is not None
    assert timing.next_fire(noon) is None


@pytest.mark.parametrize("zone", ["UTC", SEOUL, NEW_YORK, "Pacific/Kiritimati", "Etc/GMT+12"])
@pytest.mark.parametrize("cron", ["* * * * *", "0 9 * * *", "0 0 29 2 *", "30 1 * * SUN#1"])
def test_the_ends_of_the_calendar_are_ends_and_not_errors(cron: str, zone: str) -> None:
    timing = Timing(cron=cron, timezone=zone)
    the_end = at("9999-12-31T23:59:59.999999+00:00")
    for before in (0, 1, HOUR, 13 * HOUR, DAY, 15 * 30 * DAY, 3 * 366 * DAY):
        fire = timing.next_fire(the_end - before)
        assert fire is None or the_end - before < fire.at <= the_end
    assert timing.next_fire(the_end) is None
    assert timing.next_fire(2**63 - 1) is None
    fire = timing.next_fire(-(2**63))
    assert fire is not None
    assert fire.at < at("1900-01-01")


def test_instants_before_1970_are_instants() -> None:
    assert first(Timing(cron="0 9 * * *", timezone=BERLIN), "1945-05-22 12:00", 2) == [
        "1945-05-23T09:00:00+02:00",
        "1945-05-24T09:00:00+03:00",
    ]
    assert Timing(cron="* * * * * *", timezone="UTC").next_fire(-1) == Timing(
        cron="0 0 1 1 *", timezone="UTC"
    ).next_fire(-DAY)


def test_jitter_is_deterministic_and_spreads_over_its_range() -> None:
    fire = at("2026-01-05 09:00", SEOUL)
    drawn = [jitter_of(f"schedule-{n}", fire, 10 * MINUTE) for n in range(1_000)]
    assert all(0 <= each <= 10 * MINUTE for each in drawn)
    assert {each * 10 // (10 * MINUTE + 1) for each in drawn} == set(range(10))
    assert {jitter_of("one", fire + n * DAY, 1) for n in range(50)} == {0, 1}
    assert jitter_of("one", fire, 0) == 0
    # A fire's work must not move when a release changes: this number is part of the promise.
    assert jitter_of("schedule-0", fire, 10 * MINUTE) == 304_914_332
