"""Cron expressions: validation with a reason for each rejected part, and the next matching wall time.

cronsim parses the fields and matches days (`L`, `LW`, `#`, either or both). Its own search steps from hour to hour,
some 60 µs for a daily schedule; here the parsed sets are sorted once and looked up, a few µs.

Wall times are deliberately naive: `fire_times` maps them to instants of a time zone.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from functools import lru_cache

from cronsim import CronSim, CronSimError
from cronsim.cronsim import Field

from hanbeon.domain.timing.fields import check_field, plain
from hanbeon.errors import InvalidInput

LONGEST_TEXT = 500
MOST_EXPRESSIONS = 8
JOIN = "|"
"""Separates expressions of which any may fire. Some rules need two: the 30th, or the last day of February."""

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
# Every possible combination of month, day and weekday occurs within 28 years of 2000, and the rarest (a 29 February on
# a Monday, around a year like 2100) are at most 40 years apart.
_BEGIN = dt.datetime(2000, 1, 1)
_GIVE_UP_YEARS = 50


class Expression:
    """A validated expression. Immutable, and shared between schedules and threads."""

    __slots__ = ("_days", "_hours", "_minutes", "_seconds", "fixed")

    def __init__(self, parts: list[str]) -> None:
        self._days = CronSim(" ".join(parts), _BEGIN)
        self._hours, self._minutes, self._seconds = (
            tuple(sorted(values)) for values in (self._days.hours, self._days.minutes, self._days.seconds)
        )
        minute, hour = self._days.parts[Field.MINUTE], self._days.parts[Field.HOUR]
        self.fixed = not minute.startswith("*") and not hour.startswith("*")
        """True if it names times of day rather than an interval: neither its minute nor its hour begins with `*`."""

    def next_wall(self, wall: dt.datetime, *, inclusive: bool = False) -> dt.datetime | None:
        """Return the first matching wall time after this one; None at the end of the year 9999."""
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
        """Return the first matching time of day, from this one on."""
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
    """Parse a cron text into expressions of which any may fire; errors name the field, the reason and an example."""
    _check_characters(text)
    pieces = text.split(JOIN)
    if len(pieces) > MOST_EXPRESSIONS:
        raise InvalidInput(
            f"must have at most {MOST_EXPRESSIONS} expressions joined by {JOIN}, got {len(pieces)}; "
            "create several schedules",
            field="cron",
        )
    return tuple(_expression(piece) for piece in pieces)


def _check_characters(text: object) -> None:
    if not isinstance(text, str):
        raise InvalidInput(f"must be text, {_EXAMPLE}", field="cron")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(f"must be at most {LONGEST_TEXT} characters, got {len(text)}; {_EXAMPLE}", field="cron")
    for place, sign in enumerate(text, start=1):
        # Converting to upper case turns some other letters into ASCII, so they have to be found before.
        if not (" " <= sign <= "~" or sign in "\t\n"):
            raise InvalidInput(f"must not contain the character {sign!r} (position {place}); {_EXAMPLE}", field="cron")


def _expression(text: str) -> Expression:
    parts = _parts(text)
    fields = list(Field)[-len(parts) :]
    for field, part in zip(fields, parts, strict=True):
        check_field(field, part)
    try:
        made = Expression([plain(field, part) for field, part in zip(fields, parts, strict=True)])
    except CronSimError:
        made = None  # Every field was validated by itself: what remains is a day that none of its months has.
    if made is None or made.next_wall(_BEGIN, inclusive=True) is None:
        raise InvalidInput(
            f"must match at least one date, got {' '.join(parts)!r}, which never fires: no such month has that day "
            "(like 30 2, 30 February); for the last day of a month write L, for example 0 9 L 2 *",
            field="cron",
        )
    return made


def _parts(text: str) -> list[str]:
    """Return the five or six fields in upper case, with `?` and macros expanded."""
    words = text.upper().split()
    if words and words[0].startswith("@"):
        return _expand_macro(words)
    if len(words) not in (5, 6):
        count = "none" if not words else str(len(words))
        hint = " (there is no field for years)" if len(words) == 7 else ""
        raise InvalidInput(
            "must have 5 fields (minute, hour, day of month, month, weekday), or 6 with seconds first, "
            f"got {count}{hint}; {_EXAMPLE}",
            field="cron",
        )
    for place in (-3, -1):
        if words[place] == "?":
            words[place] = "*"
    return words


def _expand_macro(words: list[str]) -> list[str]:
    if len(words) == 1 and words[0] in _MACROS:
        return _MACROS[words[0]].split()
    macro = " ".join(words).lower()[:40]
    if words[0] == "@EVERY":
        remedy = "for an interval write */5 * * * * (minutes) or */30 * * * * * (seconds; one is the shortest interval)"
    elif words[0] == "@REBOOT":
        remedy = "a schedule does not know when machines start; run the task manually, or at an instant (run_at)"
    else:
        remedy = "use " + ", ".join(sorted(name.lower() for name in _MACROS)) + f", or fields, {_EXAMPLE}"
    raise InvalidInput(f"must be a known macro or cron fields, got {macro!r}; {remedy}", field="cron")
