"""Types that the schemas of several surfaces share: bounded scalars, pages, explanations, results of a cancel."""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.event_cursor import MOST
from hanbeon.domain.job import NAME_LIMIT
from hanbeon.surfaces.validation import EXPECTED

T = TypeVar("T")
PAGE_MOST = 1_000
CURSOR_DIGITS = 18

# The database stores no NUL.
STORABLE = r"^[^\x00]*$"
_UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
_NAME_RULE = f"a string of 1 to {NAME_LIMIT} characters without NUL"
_CURSOR_RULE = "the next_cursor of a page"

Name = Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT, pattern=STORABLE, extra={EXPECTED: _NAME_RULE})]
NameOrEmpty = Annotated[
    str,
    Meta(
        max_length=NAME_LIMIT,
        pattern=STORABLE,
        extra={EXPECTED: f"a string of at most {NAME_LIMIT} characters without NUL"},
    ),
]
# The length, because `$` also matches before a line end.
Uuid = Annotated[str, Meta(max_length=36, pattern=_UUID, extra={EXPECTED: "a UUID in lower-case text form"})]
PageSize = Annotated[int, Meta(ge=1, le=PAGE_MOST)]
Cursor = Annotated[str, Meta(pattern=f"^[0-9]{{1,{CURSOR_DIGITS}}}$", extra={EXPECTED: _CURSOR_RULE})]
IdCursor = Annotated[str, Meta(max_length=36, pattern=_UUID, extra={EXPECTED: _CURSOR_RULE})]
EventCursor = Annotated[
    str,
    Meta(
        max_length=36,
        pattern="^([0-9a-f]{16}:)?[0-9]{1,19}$",
        extra={EXPECTED: f"the id of an event from 0 to {MOST}, or <incarnation>:<id>"},
    ),
]


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all requests, in the body or in the query. A field that may be left out is UNSET by default."""


class ChannelQuery(Request, frozen=True, kw_only=True):
    """Events after the one with this id, or `<incarnation>:<id>`; 0 for all that are kept."""

    after: EventCursor | UnsetType = UNSET


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all results. Times are ISO-8601 in the zone of the installation."""


class Page(Result, Generic[T], frozen=True, kw_only=True):
    """One page of a list; pass `next_cursor` to get the next one, unless it is null."""

    items: list[T]
    next_cursor: str | None


class Explanation(Result, frozen=True, kw_only=True):
    """Each reason has a `code`, a `text`, and details by name."""

    runnable: bool
    reasons: list[dict[str, Any]]
