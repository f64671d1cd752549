"""Instants and durations, as people write and read them."""

from __future__ import annotations

import contextlib
import datetime as dt
import re

from hanbeon.errors import InvalidInput

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|d|h|m|s)", re.ASCII)


def iso(us: int | None, zone: dt.tzinfo, timespec: str = "microseconds") -> str | None:
    """An instant of the database in ISO-8601, in a zone; None stays None."""
    if us is None:
        return None
    moment = _EPOCH + dt.timedelta(microseconds=us)
    # The last hours of the year 9999 are in the year 10000 elsewhere.
    with contextlib.suppress(OverflowError):
        moment = moment.astimezone(zone)
    return moment.isoformat(timespec=timespec)


def clock_time(us: int | None, zone: dt.tzinfo) -> str:
    """The same for a table: to the second, and nothing for None."""
    return iso(us, zone, "seconds") or ""


def brief(seconds: float | None) -> str:
    """A duration in two units at the most: 340ms, 2.5s, 3m05s, 4h12m, 2d03h. Nothing for None."""
    if seconds is None:
        return ""
    if seconds < 0.9995:
        return f"{max(0.0, seconds) * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    for name, big, small, of in (("d", 86_400, 3_600, "h"), ("h", 3_600, 60, "m"), ("m", 60, 1, "s")):
        if whole >= big:
            return f"{whole // big}{name}{whole % big // small:02}{of}"
    return f"{whole}s"


def seconds_of(text: str, field: str) -> float:
    """What somebody means by 90, 90s, 1h30m or 30d, in seconds."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text).strip():
        raise InvalidInput(f"{text!r} is not a duration; write 90s, 15m, 1h30m or 30d", field=field)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
