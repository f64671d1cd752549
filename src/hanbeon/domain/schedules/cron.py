"""Cron expressions: checked with the reason for what does not fit, and asked for the next wall time that matches.

cronsim reads the fields and knows which days match (`L`, `LW`, `#`, either or both). Its own walk steps from hour to
hour, some 60 µs for a daily schedule; here the sets that it has read are sorted once and looked up, a few µs.

Wall times are naive on purpose: which instants they are is the zone's affair (`timing`).
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from functools import lru_cache

from cronsim import CronSim, CronSimError
from cronsim.cronsim import Field

from hanbeon.domain.schedules.fields import check_field, plain
from hanbeon.errors import InvalidInput

LONGEST_TEXT = 500
MOST_EXPRESSIONS = 8
JOIN = "|"
"""Between expressions of which any may fire. Some rules need two: the 30th, or the last day of February."""

_EXAMPLE = "for example 0 9 * * MON-FRI"
_MACROS = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
}
_SECOND, _DAY = dt.timedelta(seconds=1), dt.timedelta(days=1)
# Every pattern of month, day and weekday that the calendar has at all is there within 28 years of 2000, and 40 years at
# most lie between two of the rarest (a 29 February on a Monday, around a year like 2100).
_BEGIN = dt.datetime(2000, 1, 1)
_GIVE_UP_YEARS = 50


class Expression:
    """One expression that was checked. Shared between schedules and threads: nothing in it changes."""

    __slots__ = ("_days", "_hours", "_minutes", "_seconds", "fixed")

    def __init__(self, parts: list[str]) -> None:
        self._days = CronSim(" ".join(parts), _BEGIN)
        self._hours, self._minutes, self._seconds = (
            tuple(sorted(values)) for values in (self._days.hours, self._days.minutes, self._days.seconds)
        )
        minute, hour = self._days.parts[Field.MINUTE], self._days.parts[Field.HOUR]
        self.fixed = not minute.startswith("*") and not hour.startswith("*")
        """Whether it names times of day, rather than a rhythm: no `*` begins its minute or its hour."""

    def next_wall(self, wall: dt.datetime, *, inclusive: bool = False) -> dt.datetime | None:
        """The first wall time after this one that matches; None at the end of the year 9999."""
        try:
            if not inclusive:
                wall += _SECOND
            day = wall.date()
            if day.month in self._days.months and self._days.match_day(day):
                time = self._time_from(wall.hour, wall.minute, wall.second)
                if time is not None:
                    return dt.datetime.combine(day, time)
            later = self._day_after(day)
        except OverflowError:
            return None
        if later is None:
            return None
        return dt.datetime.combine(later, dt.time(self._hours[0], self._minutes[0], self._seconds[0]))

    def _time_from(self, hour: int, minute: int, second: int) -> dt.time | None:
        """The first time of a day that matches, from this one on."""
        hours, minutes, seconds = self._hours, self._minutes, self._seconds
        h = bisect_left(hours, hour)
        if h == len(hours):
            return None
        if hours[h] != hour:
            return dt.time(hours[h], minutes[0], seconds[0])
        m = bisect_left(minutes, minute)
        if m < len(minutes) and minutes[m] == minute:
            s = bisect_left(seconds, second)
            if s < len(seconds):
                return dt.time(hour, minute, seconds[s])
            m += 1
        if m < len(minutes):
            return dt.time(hour, minutes[m], seconds[0])
        return dt.time(hours[h + 1], minutes[0], seconds[0]) if h + 1 < len(hours) else None

    def _day_after(self, day: dt.date) -> dt.date | None:
        months, matches = self._days.months, self._days.match_day
        last_year = day.year + _GIVE_UP_YEARS
        day += _DAY
        while day.year <= last_year:
            if day.month not in months:
                day = (day.replace(day=1) + 31 * _DAY).replace(day=1)
            elif matches(day):
                return day
            else:
                day += _DAY
        return None


@lru_cache(maxsize=2_048)
def parse(text: str) -> tuple[Expression, ...]:
    """The expressions of a cron text, of which any may fire; refused with the field, the reason and an example."""
    _check_characters(text)
    pieces = text.split(JOIN)
    if len(pieces) > MOST_EXPRESSIONS:
        raise InvalidInput(
            f"{len(pieces)} expressions joined by {JOIN} are more than {MOST_EXPRESSIONS}; make several schedules",
            field="cron",
        )
    return tuple(_expression(piece) for piece in pieces)


def _check_characters(text: object) -> None:
    if not isinstance(text, str):
        raise InvalidInput(f"it must be text, {_EXAMPLE}", field="cron")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(f"{len(text)} characters are more than {LONGEST_TEXT}; {_EXAMPLE}", field="cron")
    for place, sign in enumerate(text, start=1):
        # Upper case makes ASCII of some letters that are none, so they have to be found before.
        if not (" " <= sign <= "~" or sign in "\t\n"):
            raise InvalidInput(f"the character {sign!r} at place {place} has no meaning; {_EXAMPLE}", field="cron")


def _expression(text: str) -> Expression:
    parts = _parts(text)
    fields = list(Field)[-len(parts) :]
    for field, part in zip(fields, parts, strict=True):
        check_field(field, part)
    try:
        made = Expression([plain(field, part) for field, part in zip(fields, parts, strict=True)])
    except CronSimError:
        made = None  # Every field was checked alone: what is left is a day that none of its months has.
    if made is None or made.next_wall(_BEGIN, inclusive=True) is None:
        raise InvalidInput(
            f"{' '.join(parts)!r} never fires: no month has such a day (like 30 2, 30 February); "
            "for the last day of a month write L, for example 0 9 L 2 *",
            field="cron",
        )
    return made


def _parts(text: str) -> list[str]:
    """The five or six fields in capital letters, `?` and short forms written out."""
    words = text.upper().split()
    if words and words[0].startswith("@"):
        return _written_out(words)
    if len(words) not in (5, 6):
        count = "an empty text has none" if not words else f"these are {len(words)}"
        hint = " (there is no field for years)" if len(words) == 7 else ""
        raise InvalidInput(
            "it takes 5 fields (minute, hour, day of month, month, weekday), or 6 with seconds first; "
            f"{count}{hint}; {_EXAMPLE}",
            field="cron",
        )
    for place in (-3, -1):
        if words[place] == "?":
            words[place] = "*"
    return words


def _written_out(words: list[str]) -> list[str]:
    if len(words) == 1 and words[0] in _MACROS:
        return _MACROS[words[0]].split()
    said = " ".join(words).lower()[:40]
    if words[0] == "@EVERY":
        remedy = "for a rhythm write */5 * * * * (minutes) or */30 * * * * * (seconds; one is the shortest interval)"
    elif words[0] == "@REBOOT":
        remedy = "a schedule does not know when machines start; run the task by hand, or at an instant (run_at)"
    else:
        remedy = "use " + ", ".join(sorted(name.lower() for name in _MACROS)) + f", or fields, {_EXAMPLE}"
    raise InvalidInput(f"{said!r} is not known; {remedy}", field="cron")
