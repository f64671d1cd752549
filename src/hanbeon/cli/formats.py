"""Instants, durations, JSON and progress as text."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import msgspec

from hanbeon.domain.durations import brief as brief

_FRACTION = re.compile(r"\.\d+")


def to_seconds(instant: str | None) -> str:
    """Drop the fraction of an ISO-8601 instant, for a table; empty for None."""
    return "" if instant is None else _FRACTION.sub("", instant)


def seconds_between(start: str | None, end: str | dt.datetime | None) -> float:
    """Return the seconds from one ISO-8601 instant to another, or 0 where one is missing."""
    if start is None or end is None:
        return 0.0
    moment = dt.datetime.fromisoformat(end) if isinstance(end, str) else end
    return (moment - dt.datetime.fromisoformat(start)).total_seconds()


def now_beside(instant: str) -> dt.datetime:
    """Return the present moment in the time zone of an ISO-8601 instant."""
    return dt.datetime.now(dt.datetime.fromisoformat(instant).tzinfo)


def json_text(value: Any) -> str | None:
    """Return a value as JSON; None stays None."""
    return None if value is None else msgspec.json.encode(value).decode()


def percent(progress: Any) -> float | None:
    """Return a progress that is a number; tasks may report any JSON."""
    if isinstance(progress, bool) or not isinstance(progress, int | float):
        return None
    return min(100.0, max(0.0, float(progress)))


def progress_text(progress: Any) -> str:
    """Format a number as a percentage, anything else as its JSON."""
    value = percent(progress)
    return json_text(progress) or "" if value is None else f"{value:.0f}%"
