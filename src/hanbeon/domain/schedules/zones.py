"""Time zones by name, and the instants at which their clocks jump."""

from __future__ import annotations

import datetime as dt
import difflib
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from hanbeon.errors import InvalidInput

MICROS = 1_000_000  # Of `hanbeon.clock`, which the domain may not see: it has a clock in it.
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_NAIVE_EPOCH = dt.datetime(1970, 1, 1)
_SECOND = dt.timedelta(seconds=1)
# What these mean differs from machine to machine, or is no place at all.
_NOT_ZONES = frozenset({"localtime", "posixrules", "Factory"})


@lru_cache(maxsize=1_024)
def zone_of(name: str) -> ZoneInfo:
    """The zone of a name from the IANA list; another is refused with the nearest ones."""
    if name in _known():
        return ZoneInfo(name)
    raise InvalidInput(f"{name[:60]!r} is not a time zone{_hint(name[:60])}", field="timezone")


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(available_timezones()) - _NOT_ZONES


def _hint(name: str) -> str:
    if name[:1] in ("+", "-") or name.upper().startswith(("UTC+", "UTC-", "GMT+", "GMT-")):
        return ": an offset alone does not say what happens in summer; name a place like Asia/Seoul, or UTC"
    by_fold = {known.casefold(): known for known in sorted(_known())}
    by_place = {folded.rpartition("/")[2]: known for folded, known in by_fold.items() if "/" in folded}
    folded = name.strip().casefold().replace(" ", "_")
    near = [found for table in (by_fold, by_place) if (found := table.get(folded))]
    near += [by_fold[each] for each in difflib.get_close_matches(folded, by_fold, n=3, cutoff=0.6)]
    near += [by_place[each] for each in difflib.get_close_matches(folded, by_place, n=2, cutoff=0.75)]
    if not near:
        return "; use a name like Asia/Seoul or UTC"
    return "; did you mean " + " or ".join(list(dict.fromkeys(near))[:3]) + "?"


def local(second: int, zone: dt.tzinfo) -> dt.datetime:
    """What the clocks of a zone show at a whole second since 1970 UTC."""
    return (_EPOCH + dt.timedelta(seconds=second)).astimezone(zone)


def shown(instant: int, zone: dt.tzinfo) -> str:
    """An instant for people, in a zone."""
    try:
        return local(instant // MICROS, zone).isoformat()
    except OverflowError:  # The first and last hours of the calendar are outside of it elsewhere.
        return local(instant // MICROS, dt.UTC).isoformat()


def seconds(wall: dt.datetime) -> int:
    """A naive wall time as if it were UTC, in whole seconds since 1970."""
    return (wall - _NAIVE_EPOCH) // _SECOND


def offsets(wall: dt.datetime, zone: dt.tzinfo) -> tuple[int, int]:
    """A wall time's offsets before and after a jump of the clocks, in seconds; the same two when there is none.

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
    """The second at which the clocks jump, for a wall time that they skip or show twice."""
    low, high = seconds(wall) - max(before, after), seconds(wall) - min(before, after)
    while high - low > 1:
        middle = (low + high) // 2
        if local(middle, zone).utcoffset() == dt.timedelta(seconds=before):
            low = middle
        else:
            high = middle
    return high


def wall_at(second: int) -> dt.datetime:
    """The reverse of `seconds`."""
    return _NAIVE_EPOCH + dt.timedelta(seconds=second)
