"""How far a job is, in the words that its task has chosen."""

from __future__ import annotations

import msgspec

from hanbeon.domain.job import JobRecord


def percent(job: JobRecord) -> float | None:
    """The progress, where it is a number; tasks may note any JSON."""
    try:
        value = msgspec.json.decode(job.progress or "null")
    except msgspec.DecodeError:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return min(100.0, max(0.0, float(value)))


def progress_text(job: JobRecord) -> str:
    """A number with its sign, anything else as it is."""
    value = percent(job)
    return job.progress or "" if value is None else f"{value:.0f}%"
