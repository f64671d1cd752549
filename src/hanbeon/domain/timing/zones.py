"""Time zones: wall times, offsets, and the instants of their transitions."""

from __future__ import annotations

import datetime as dt

MICROS = 1_000_000  # Not imported from `hanbeon.clock`: the domain must not depend on a clock.
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_NAIVE_EPOCH = dt.datetime(1970, 1, 1)
_SECOND = dt.timedelta(seconds=1)


def local(second: int, zone: dt.tzinfo) -> dt.datetime:
    """Return the wall time of a zone at a whole second since 1970 UTC."""
    return (_EPOCH + dt.timedelta(seconds=second)).astimezone(zone)


def shown(instant: int, zone: dt.tzinfo) -> str:
    """Format an instant for people, in a zone."""
    try:
        return local(instant // MICROS, zone).isoformat()
    except OverflowError:  # In other zones the first and last hours of the calendar are out of range.
        return local(instant // MICROS, dt.UTC).isoformat()


def seconds(wall: dt.datetime) -> int:
    """Return a naive wall time as if it were UTC, in whole seconds since 1970."""
    return (wall - _NAIVE_EPOCH) // _SECOND


def offsets(wall: dt.datetime, zone: dt.tzinfo) -> tuple[int, int]:
    """Return a wall time's offsets before and after a transition, in seconds; equal if there is none.

    The first is the smaller one when the clocks skip this time, and the greater one when they show it twice.
    """
    before, after = zone.utcoffset(wall), zone.utcoffset(wall.replace(fold=1))
    assert before is not None
    if before == after:
        at_both = before // _SECOND
        return at_both, at_both
    assert after is not None
    return before // _SECOND, after // _SECOND


def jump_near(wall: dt.datetime, before: int, after: int, zone: dt.tzinfo) -> int:
    """Return the second of the transition, for a wall time that the clocks skip or show twice."""
    low, high = seconds(wall) - max(before, after), seconds(wall) - min(before, after)
    while high - low > 1:
        middle = (low + high) // 2
        if local(middle, zone).utcoffset() == dt.timedelta(seconds=before):
            low = middle
        else:
            high = middle
    return high


def wall_at(second: int) -> dt.datetime:
    """The inverse of `seconds`."""
    return _NAIVE_EPOCH + dt.timedelta(seconds=second)
