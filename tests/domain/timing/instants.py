"""Instants as people write them, for tests: `at("2026-03-08 02:30", "America/New_York")` and back."""

from __future__ import annotations

import datetime as dt
from itertools import islice
from zoneinfo import ZoneInfo

from hanbeon.domain.timing.fire_times import Timing

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def at(text: str, zone: str = "UTC") -> int:
    """An ISO-8601 time, in microseconds since 1970; one without an offset is of the zone, first pass."""
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)


def iso(instant: int, zone: str) -> str:
    return (_EPOCH + dt.timedelta(microseconds=instant)).astimezone(ZoneInfo(zone)).isoformat()


def first(timing: Timing, after: str, count: int) -> list[str]:
    """The first fires after a local time, with offsets."""
    found = islice(timing.fires(at(after, timing.timezone)), count)
    return [iso(fire.at, timing.timezone) for fire in found]
