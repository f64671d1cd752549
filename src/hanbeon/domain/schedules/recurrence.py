"""Daily, weekly and monthly times as cron text, for those who would rather not write it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cronsim.cronsim import SYMBOLIC_DAYS

from hanbeon.domain.schedules.cron import JOIN
from hanbeon.errors import InvalidInput

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_LONG_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_WEEKDAYS = frozenset((*SYMBOLIC_DAYS, *_LONG_DAYS))


def daily(time: str) -> str:
    """Every day at a time of day: `09:00`, or `09:00:30`."""
    return f"{_clock(time)} * * *"


def weekly(weekdays: Sequence[str], time: str) -> str:
    """On some days of each week, by the first three letters of their English names."""
    if isinstance(weekdays, str) or not weekdays:
        raise InvalidInput('it takes one weekday or more in a list, for example ["MON", "THU"]', field="weekdays")
    names = {_weekday(each) for each in weekdays}
    return f"{_clock(time)} * * {','.join(sorted(names, key=_from_monday))}"


def monthly(day: int, time: str) -> str:
    """On a day of each month; the 29th, 30th and 31st mean the last day of a month that is shorter."""
    if not 1 <= day <= 31:
        raise InvalidInput("it is a day of the month, 1 to 31; a shorter month takes its last", field="day")
    clock = _clock(time)
    if day <= 28:
        return f"{clock} {day} * *"
    if day == 31:
        return f"{clock} L * *"
    # Only February is shorter than 29 or 30 days, and one expression cannot give it a rule of its own.
    return f"{clock} {day} 1,3-12 * {JOIN} {clock} L 2 *"


def _clock(time: str) -> str:
    """The fields of a time of day, seconds only when there are some."""
    match = _TIME.fullmatch(time)
    if match is None:
        raise InvalidInput(f"{time[:40]!r} is not a time of day; write 09:00 or 17:30", field="time")
    hour, minute, second = (int(each or 0) for each in match.groups())
    return f"{second} {minute} {hour}" if second else f"{minute} {hour}"


def _weekday(name: str) -> str:
    said = name.strip().upper()
    if said not in _WEEKDAYS:
        raise InvalidInput(f"{name[:40]!r} is not a weekday; use {', '.join(SYMBOLIC_DAYS)}", field="weekdays")
    return said[:3]


def _from_monday(name: str) -> int:
    return (SYMBOLIC_DAYS.index(name) - 1) % 7
