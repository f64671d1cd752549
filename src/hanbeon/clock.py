"""The two clocks of an instance: a wall clock, which only SQLite uses, and a monotonic one for leases and deadlines."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import time
from typing import Protocol

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

MICROS = 1_000_000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_NO_OFFSET, _MINUTE = dt.timedelta(), dt.timedelta(minutes=1)
_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_MOST_CHARACTERS = 100
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|d|h|m|s)", re.ASCII)


class Clock(Protocol):
    """The clocks the engine uses. PostgreSQL has its own wall clock and never calls `now_us`."""

    def now_us(self) -> int:
        """The instant, in microseconds since 1970 UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never steps, suspended machines included where the host can say so."""
        ...


class SystemClock:
    """The host's clocks.

    CLOCK_BOOTTIME keeps counting while the machine sleeps, so that a laptop that wakes up knows its leases are gone.
    """

    def now_us(self) -> int:
        return time.time_ns() // 1_000

    if hasattr(time, "CLOCK_BOOTTIME"):

        def monotonic(self) -> float:
            return time.clock_gettime(time.CLOCK_BOOTTIME)
    else:

        def monotonic(self) -> float:
            return time.monotonic()


def micros(seconds: float) -> int:
    """Convert seconds to whole microseconds."""
    return round(seconds * MICROS)


def iso(us: int | None, zone: dt.tzinfo, timespec: str = "microseconds") -> str | None:
    """Format an instant of the database as ISO-8601 in a time zone; None stays None."""
    if us is None:
        return None
    moment = _EPOCH + dt.timedelta(microseconds=us)
    # The last hours of the year 9999 are in the year 10000 elsewhere.
    with contextlib.suppress(OverflowError):
        local = moment.astimezone(zone)
        # Before standard time, offsets had seconds, which RFC 3339 has not: such a moment is shown in UTC.
        if not (local.utcoffset() or _NO_OFFSET) % _MINUTE:
            moment = local
    return moment.isoformat(timespec=timespec)


def seconds_of(text: str, field: str) -> float:
    """Parse a duration like 90, 90s, 1h30m or 30d into seconds."""
    given = text.strip()
    # Digits without a unit are searched once from each of them on: in all, the square of their number.
    short = given if len(given) <= _MOST_CHARACTERS else ""
    if re.fullmatch(r"\d+(\.\d+)?", short, re.ASCII):
        return float(short)
    parts = _PART.findall(short)
    if not parts or _PART.sub("", short).strip():
        raise InvalidInput(Rule("must_be", what=Rule("duration"), got=quoted(given)), field=field)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
