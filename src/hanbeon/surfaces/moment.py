"""Moments in requests: ISO-8601 text, as instants of the database."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.tasks.request import instant_us


def instant_of(text: str, field: str, zone: ZoneInfo) -> int:
    """A moment in ISO-8601; without an offset, in the zone."""
    try:
        if "T" not in text.upper().replace(" ", "T"):
            raise ValueError
        return instant_us(dt.datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"must be a moment in ISO-8601, like 2027-01-31T09:00:00+09:00, got {quoted(text)}", field=field
        ) from None
