"""Cron expressions: validation with a reason for each rejected part, and the next matching wall time.

cronsim parses the fields and matches days (`L`, `LW`, `#`, either or both). Its own search steps from hour to hour,
some 60 µs for a daily schedule; here the parsed sets are sorted once and looked up, a few µs.

Wall times are deliberately naive: `fire_times` maps them to instants of a time zone.
"""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_left
from functools import lru_cache

from cronsim import CronSim, CronSimError
from cronsim.cronsim import RANGES, SYMBOLIC_DAYS, SYMBOLIC_MONTHS, Field

from hanbeon.errors import InvalidInput
from hanbeon.quotation import nearest
from hanbeon.rule import Rule

_RULES: dict[Field, str] = {
    Field.SECOND: "cron_second",
    Field.MINUTE: "cron_minute",
    Field.HOUR: "cron_hour",
    Field.DAY: "cron_day",
    Field.MONTH: "cron_month",
    Field.DOW: "cron_weekday",
}
_SYMBOLS: dict[Field, list[str]] = {Field.MONTH: SYMBOLIC_MONTHS, Field.DOW: SYMBOLIC_DAYS}
_SHOWN = 40


def check_field(field: Field, part: str) -> None:
    """Raise for the first invalid term of a field, with the reason and a valid example."""
    for term in part.split(","):
        reason = _reason(field, term)
        if reason is not None:
            raise InvalidInput(Rule(_RULES[field], got=repr(term[:_SHOWN]), reason=reason), field="cron")


def normalized(field: Field, part: str) -> str:
    """Rewrite a valid field so that the library reads it correctly: it takes 5-5/2 for 5/2, without an upper bound."""
    return ",".join(_normalized_term(field, term) for term in part.split(","))


def _normalized_term(field: Field, term: str) -> str:
    start, stepped, _ = term.partition("/")
    if not stepped or "-" not in start:
        return term
    values = field.parse(start)
    return str(min(values)) if len(values) == 1 else term


def _reason(field: Field, term: str) -> Rule | None:
    """Return why a term is invalid, or None if it is valid."""
    if not term:
        return Rule("cron_empty_term")
    if "?" in term:
        return Rule("cron_question_mark")
    if "/" in term:
        return _bad_step(field, *term.split("/", maxsplit=1))
    return _refused(field, term)


def _bad_step(field: Field, start: str, step: str) -> Rule | None:
    # The library takes L/2 for L and */90 for */60, which cannot be what the user meant.
    if re.fullmatch(r"\d*\.\d+", step):
        return Rule("cron_step_fraction")
    if not step.isdigit():
        return Rule("cron_step_not_integer", step=repr(step[:_SHOWN]))
    if int(step) == 0:
        return Rule("cron_step_zero")
    if ("L" in start and field in (Field.DAY, Field.DOW)) or "#" in start:
        return Rule("cron_step_start")
    many = 7 if field is Field.DOW else len(RANGES[field])
    if int(step) > many:
        return Rule("cron_step_too_long", step=step, count=many)
    return _refused(field, start)


def _refused(field: Field, term: str) -> Rule | None:
    try:
        field.parse(term)
    except CronSimError:
        return _why(field, term)
    return None


def _why(field: Field, term: str) -> Rule:
    """Return the most specific reason for a term that the library rejects."""
    base, numbered, _ = term.partition("#")
    if numbered and field is not Field.DOW:
        return Rule("cron_number_sign")
    if field is Field.DOW and re.fullmatch(r"[A-Z]{3}L", term) and term[:3] in SYMBOLIC_DAYS:
        return Rule("cron_last_weekday", day=term[:3], written=f"{SYMBOLIC_DAYS.index(term[:3])}L")
    if term in ("L", "W", "LW") or re.fullmatch(r"\d+[LW]|L-\d+", term):
        return Rule("cron_no_meaning", term=term[:_SHOWN])
    low, ranged, high = base.partition("-")
    for end in (low, high) if ranged else (low,):
        reason = _bad_value(field, end)
        if reason is not None:
            return reason
    if numbered and ranged:
        return Rule("cron_number_after_range")
    if numbered:
        return Rule("cron_number_range")
    begin, end = _bounds(field)
    return Rule("cron_range_backwards", begin=begin, high=high, low=low, end=end)


def _bad_value(field: Field, value: str) -> Rule | None:
    symbols = _SYMBOLS.get(field, [])
    if value in symbols:
        return None
    if value.isdigit():
        numbers = RANGES[field]
        if int(value) in numbers:
            return None
        return Rule("cron_not_among", value=value, first=numbers.start, last=numbers.stop - 1)
    near = nearest(value, symbols, n=1, cutoff=0.5)
    if near:
        return Rule("cron_unknown_name", name=repr(value[:_SHOWN]), nearest=near[0])
    if symbols and value.isalpha():
        return Rule("cron_unknown_name", name=repr(value[:_SHOWN]))
    return Rule("cron_not_a_number") if value else Rule("cron_value_missing")


def _bounds(field: Field) -> tuple[str, str]:
    symbols = _SYMBOLS.get(field) or [str(number) for number in RANGES[field]]
    return symbols[0], symbols[-1]


LONGEST_TEXT = 500
MOST_EXPRESSIONS = 8
JOIN = "|"
"""Separates expressions of which any may fire. Some rules need two: the 30th, or the last day of February."""

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
            Rule("cron_too_many", most=MOST_EXPRESSIONS, join=JOIN, got=len(pieces)),
            field="cron",
        )
    return tuple(_expression(piece) for piece in pieces)


def _check_characters(text: object) -> None:
    if not isinstance(text, str):
        raise InvalidInput(Rule("cron_not_text"), field="cron")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(Rule("cron_too_long", most=LONGEST_TEXT, got=len(text)), field="cron")
    for place, sign in enumerate(text, start=1):
        # Converting to upper case turns some other letters into ASCII, so they have to be found before.
        if not (" " <= sign <= "~" or sign in "\t\n"):
            raise InvalidInput(Rule("cron_bad_character", got=repr(sign), place=place), field="cron")


def _expression(text: str) -> Expression:
    parts = _parts(text)
    fields = list(Field)[-len(parts) :]
    for field, part in zip(fields, parts, strict=True):
        check_field(field, part)
    try:
        made = Expression([normalized(field, part) for field, part in zip(fields, parts, strict=True)])
    except CronSimError:
        made = None  # Every field was validated by itself: what remains is a day that none of its months has.
    if made is None or made.next_wall(_BEGIN, inclusive=True) is None:
        raise InvalidInput(
            Rule("cron_never_fires", got=repr(" ".join(parts))),
            field="cron",
        )
    return made


def _parts(text: str) -> list[str]:
    """Return the five or six fields in upper case, with `?` and macros expanded."""
    words = text.upper().split()
    if words and words[0].startswith("@"):
        return _expand_macro(words)
    if len(words) not in (5, 6):
        for_years = len(words) == 7
        rule = Rule("cron_field_for_years") if for_years else Rule("cron_field_count", got=len(words) or None)
        raise InvalidInput(rule, field="cron")
    for place in (-3, -1):
        if words[place] == "?":
            words[place] = "*"
    return words


def _expand_macro(words: list[str]) -> list[str]:
    if len(words) == 1 and words[0] in _MACROS:
        return _MACROS[words[0]].split()
    macro = " ".join(words).lower()[:40]
    if words[0] == "@EVERY":
        remedy = Rule("cron_interval")
    elif words[0] == "@REBOOT":
        remedy = Rule("cron_at_start")
    else:
        remedy = Rule("cron_macros", macros=sorted(name.lower() for name in _MACROS))
    raise InvalidInput(Rule("cron_macro", got=repr(macro), remedy=remedy), field="cron")
