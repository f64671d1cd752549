"""Moments in requests: ISO-8601 text, as instants of the database."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from hanbeon.domain.job import LAST_INSTANT_US
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.tasks.request import instant_us
from hanbeon.zones import check_not_naive, zone_of

_FIRST_US = instant_us(dt.datetime.min.replace(tzinfo=dt.UTC), ZoneInfo("UTC"))
_UNESCAPED = re.compile(r"([T ][0-9:.,]+) ([0-9]{2}:?[0-9]{2})$", re.ASCII)
_NONE, _MINUTE = dt.timedelta(), dt.timedelta(minutes=1)


def instant_of(text: str, field: str, zone: ZoneInfo) -> int:
    """A moment in ISO-8601; without an offset, in the zone.

    A query's `+` is a space unless it is escaped, and our own moments have one: it is read as what it was.
    """
    try:
        written = _UNESCAPED.sub(r"\1+\2", text.upper())
        if "T" not in written.replace(" ", "T"):
            raise ValueError
        moment = dt.datetime.fromisoformat(written)
        found = instant_us(moment, zone)
        # The first and the last hours of the calendar may be outside it in UTC, and could not be shown.
        if not _FIRST_US <= found <= LAST_INSTANT_US:
            raise ValueError
    except (ValueError, OverflowError):
        raise InvalidInput(Rule("must_be", what=Rule("moment"), got=quoted(text)), field=field) from None
    check_offset(moment, text, field)
    return found


def with_moments_as_text(fields: Mapping[str, Any], zone: ZoneInfo | None) -> dict[str, Any]:
    """Replace `datetime` objects in Python keywords by text.

    Naive ones are in the zone that the keywords name, or in `zone`; without either they are rejected.
    """
    named = fields.get("timezone")
    zone = zone_of(named) if isinstance(named, str) else zone
    return {name: _as_text(value, zone, name) for name, value in fields.items()}


def _as_text(value: Any, zone: ZoneInfo | None, field: str) -> Any:
    match value:
        case dt.datetime():
            check_not_naive(value, zone, field)
            # In ISO-8601 only the offset distinguishes the second of two equal local times.
            return (value.replace(tzinfo=zone) if value.tzinfo is None and value.fold else value).isoformat()
        case Mapping():
            return {name: _as_text(each, zone, f"{field}.{name}") for name, each in value.items()}
        case list() | tuple():
            return [_as_text(each, zone, field) for each in value]
        case _:
            return value


def check_offset(moment: dt.datetime, text: str, field: str) -> None:
    """Reject an offset with seconds, which RFC 3339 does not know and most programs cannot read."""
    if moment.tzinfo is not None and (moment.utcoffset() or _NONE) % _MINUTE:
        raise InvalidInput(Rule("invalid_offset", got=quoted(text)), field=field)
