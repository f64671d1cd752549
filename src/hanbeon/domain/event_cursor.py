"""Cursors of event readers: the last event seen, and the incarnation of the database that numbered it."""

from __future__ import annotations

import enum
from typing import NamedTuple

from hanbeon.errors import EventsMissed, InvalidInput, OtherIncarnation
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

MOST = 2**63 - 1
Cursor = int | str
"""The id of an event, or `<incarnation>:<id>`. A bare id counts as one of the present incarnation."""


class GapReason(enum.StrEnum):
    """Why a reader cannot simply go on after its cursor."""

    SLOW = "slow"
    """The reader was too slow for the live stream: the next events come late, but all of them."""

    PRUNED = "pruned"
    """Events after the cursor were deleted after their retention."""

    AHEAD = "ahead"
    """No event has that id yet: the cursor is from before a restore, or from another database."""


class EventPosition(NamedTuple):
    """Where a reader goes on: after the event `after`; `gap` says why that is not where it wanted to."""

    incarnation: str
    after: int
    gap: GapReason | None = None

    @property
    def cursor(self) -> str:
        return f"{self.incarnation}:{self.after}"

    def without_gap(self) -> EventPosition:
        """Return it, or raise EventsMissed for a reader that cannot get a gap message."""
        if self.gap is not None:
            raise EventsMissed(self.gap.value, self.after)
        return self


def event_id(cursor: Cursor, incarnation: str, field: str = "after") -> int:
    """Return the id of a cursor of this incarnation; raises for another's, and for what is no cursor."""
    if isinstance(cursor, str):
        given, colon, digits = cursor.rpartition(":")
        if digits.isascii() and digits.isdecimal() and len(digits) <= len(str(MOST)) and int(digits) <= MOST:
            if not colon or given == incarnation:
                return int(digits)
            if given.isascii() and given.isalnum():
                raise OtherIncarnation(
                    Rule("other_incarnation", incarnation=repr(incarnation), got=quoted(given)),
                    field=field,
                )
    elif type(cursor) is int and 0 <= cursor <= MOST:
        return cursor
    raise InvalidInput(Rule("must_be", what=Rule("event_id", most=MOST), got=quoted(cursor)), field=field)


def position_of(wanted: int, incarnation: str, first_kept: int, last: int) -> EventPosition:
    """Return where a reader of `wanted` goes on, if the events from `first_kept` to `last` are there.

    0 stands for all that are kept, so it misses nothing.
    """
    if wanted > last:
        return EventPosition(incarnation, last, GapReason.AHEAD)
    if 0 < wanted < first_kept - 1:
        return EventPosition(incarnation, first_kept - 1, GapReason.PRUNED)
    return EventPosition(incarnation, wanted)
