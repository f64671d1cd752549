"""Wall clocks, simulated minute by minute: the oracle for transitions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from functools import lru_cache
from zoneinfo import ZoneInfo

from hanbeon.domain.timing.fire_times import ClockFold, ClockGap
from tests.domain.timing.instants import MINUTE, SECOND

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MINUTE = dt.timedelta(minutes=1)


def wall(instant: int, zone: str) -> dt.datetime:
    return (_EPOCH + dt.timedelta(microseconds=instant)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


@lru_cache(maxsize=64)
def jumps(zone: str, first_year: int = 2000, last_year: int = 2037) -> tuple[int, ...]:
    """The instants at which the clocks of a zone jump, by looking at each quarter of an hour of some years."""
    tz, found = ZoneInfo(zone), []
    second = int(dt.datetime(first_year, 1, 1, tzinfo=dt.UTC).timestamp())
    end = int(dt.datetime(last_year, 1, 1, tzinfo=dt.UTC).timestamp())

    def offset(at: int) -> dt.timedelta | None:
        return (_EPOCH + dt.timedelta(seconds=at)).astimezone(tz).utcoffset()

    before = offset(second)
    while second < end:
        # A day at a time first; within a day that ends differently, each quarter.
        if offset(second + 86_400) != before:
            for quarter in range(second + 900, second + 86_401, 900):
                if offset(quarter) != before:
                    found.append(quarter * SECOND)
                    before = offset(quarter)
        second += 86_400
    return tuple(found)


def expected_fires(
    matches: Callable[[dt.datetime], bool], zone: str, begin: int, end: int, gap: ClockGap, fold: ClockFold
) -> list[int]:
    """The fires of a window of whole minutes, by looking at each; it begins and ends away from jumps."""
    shown = [(instant, wall(instant, zone)) for instant in range(begin, end + 1, MINUTE)]
    last_seen = {time: instant for instant, time in shown}
    seen: set[dt.datetime] = set()
    found = []
    previous = shown[0][1]
    for instant, time in shown:
        again, comes_again = time in seen, last_seen[time] > instant
        allowed = (not again or fold is not ClockFold.FIRST) and (not comes_again or fold is not ClockFold.SECOND)
        skipped = gap is ClockGap.FIRE and any(map(matches, _between(previous, time)))
        if (allowed and matches(time)) or skipped:
            found.append(instant)
        seen.add(time)
        previous = time
    return found


def _between(one: dt.datetime, other: dt.datetime) -> Iterator[dt.datetime]:
    one += _MINUTE
    while one < other:
        yield one
        one += _MINUTE
