"""Fires around every clock change of a year, at instants that were worked out by hand."""

import datetime as dt

import pytest

from tests.surfaces.schedules.schedule_kit import Timetable

# The zone, the expression, where to begin, and the three fires that follow, in UTC.
YEAR_2027 = [
    ("Asia/Seoul", "30 2 * * *", "03-13T00:00", ["03-13T17:30", "03-14T17:30", "03-15T17:30"]),
    ("America/New_York", "30 2 * * *", "03-12T12:00", ["03-13T07:30", "03-14T07:00", "03-15T06:30"]),
    ("America/New_York", "30 1 * * *", "11-05T12:00", ["11-06T05:30", "11-07T05:30", "11-08T06:30"]),
    ("Europe/Berlin", "30 2 * * *", "03-26T12:00", ["03-27T01:30", "03-28T01:00", "03-29T00:30"]),
    ("Europe/Berlin", "30 2 * * *", "10-29T12:00", ["10-30T00:30", "10-31T00:30", "11-01T01:30"]),
    ("Australia/Lord_Howe", "15 2 * * *", "10-01T12:00", ["10-01T15:45", "10-02T15:30", "10-03T15:15"]),
    ("Australia/Lord_Howe", "45 1 * * *", "04-02T12:00", ["04-02T14:45", "04-03T14:45", "04-04T15:15"]),
    # With a star real time is followed: nothing moves, and both passes fire.
    ("Europe/Berlin", "*/30 2 * * *", "03-27T12:00", ["03-29T00:00", "03-29T00:30", "03-30T00:00"]),
    ("Europe/Berlin", "*/30 2 * * *", "10-30T12:00", ["10-31T00:00", "10-31T00:30", "10-31T01:00"]),
]


@pytest.mark.parametrize(("zone", "cron", "begin", "expected"), YEAR_2027)
async def test_a_schedule_fires_around_a_clock_change(
    timetable: Timetable, zone: str, cron: str, begin: str, expected: list[str]
) -> None:
    start, *moments = (dt.datetime.fromisoformat(f"2027-{each}+00:00") for each in (begin, *expected))
    await timetable.kit.clock.advance(start.timestamp() - timetable.kit.clock.now_us() / 1_000_000)
    schedule = await timetable.make(cron, timezone=zone, overlap="allow")
    # A fire at any other time would be made up for at the next look, and be in the history.
    for moment in moments:
        await timetable.pass_by(moment.timestamp() - 1 - timetable.kit.clock.now_us() / 1_000_000)
        await timetable.pass_by(1)
    page = await timetable.schedules.fires(schedule.id)
    fires = [dt.datetime.fromisoformat(fire.fire_at).astimezone(dt.UTC).isoformat() for fire in page.items[::-1]]
    assert [fire[5:16] for fire in fires] == expected
