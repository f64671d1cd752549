"""Daily, weekly and monthly recurrence as cron text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cronsim.cronsim import SYMBOLIC_DAYS

from hanbeon.domain.timing.cron import JOIN
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_LONG_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_WEEKDAYS = frozenset((*SYMBOLIC_DAYS, *_LONG_DAYS))


def daily(time: str) -> str:
    """Return the cron text for every day at a time of day: `09:00`, or `09:00:30`."""
    return f"{_clock(time)} * * *"


def weekly(weekdays: Sequence[str], time: str) -> str:
    """Return the cron text for some days of each week, by English names or their first three letters."""
    if isinstance(weekdays, str) or not weekdays:
        raise InvalidInput(Rule("must_be", what=Rule("weekday_list")), field="weekdays")
    names = {_weekday(each) for each in weekdays}
    return f"{_clock(time)} * * {','.join(sorted(names, key=_from_monday))}"


def monthly(day: int, time: str) -> str:
    """Return the cron text for a day of each month; the 29th, 30th and 31st mean the last day of a shorter month."""
    if not 1 <= day <= 31:
        raise InvalidInput(Rule("month_day_range", got=day), field="day")
    clock = _clock(time)
    if day <= 28:
        return f"{clock} {day} * *"
    if day == 31:
        return f"{clock} L * *"
    # Only February is shorter than 29 or 30 days, and one expression cannot give it a rule of its own.
    return f"{clock} {day} 1,3-12 * {JOIN} {clock} L 2 *"


def _clock(time: str) -> str:
    """Return the fields of a time of day, with seconds only if they are not zero."""
    match = _TIME.fullmatch(time)
    if match is None:
        raise InvalidInput(Rule("must_be", what=Rule("clock_time"), got=repr(time[:40])), field="time")
    hour, minute, second = (int(each or 0) for each in match.groups())
    return f"{second} {minute} {hour}" if second else f"{minute} {hour}"


def _weekday(name: str) -> str:
    weekday = name.strip().upper()
    if weekday not in _WEEKDAYS:
        raise InvalidInput(
            Rule("must_be", what=Rule("one_of", choices=SYMBOLIC_DAYS), got=repr(name[:40])), field="weekdays"
        )
    return weekday[:3]


def _from_monday(name: str) -> int:
    return (SYMBOLIC_DAYS.index(name) - 1) % 7
