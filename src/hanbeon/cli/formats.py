"""Instants, durations and progress as text."""

from __future__ import annotations

import datetime as dt

import msgspec

from hanbeon.clock import iso as iso
from hanbeon.domain.durations import brief as brief
from hanbeon.domain.job import JobRecord


def clock_time(us: int | None, zone: dt.tzinfo) -> str:
    """Format an instant for a table: to the second, and empty for None."""
    return iso(us, zone, "seconds") or ""


def percent(job: JobRecord) -> float | None:
    """Return the progress if it is a number; tasks may report any JSON."""
    try:
        value = msgspec.json.decode(job.progress or "null")
    except msgspec.DecodeError:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return min(100.0, max(0.0, float(value)))


def progress_text(job: JobRecord) -> str:
    """Format a number as a percentage, anything else as its JSON."""
    value = percent(job)
    return job.progress or "" if value is None else f"{value:.0f}%"
