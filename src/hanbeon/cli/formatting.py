"""Instants and durations, as people read them."""

from __future__ import annotations

import datetime as dt

from hanbeon.clock import iso as iso
from hanbeon.domain.durations import brief as brief


def clock_time(us: int | None, zone: dt.tzinfo) -> str:
    """The same for a table: to the second, and nothing for None."""
    return iso(us, zone, "seconds") or ""
