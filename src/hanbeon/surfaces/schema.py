"""Types that the schemas of several surfaces share: bounded scalars, pages, explanations, results of a cancel."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Generic, Self, TypedDict, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hanbeon.domain.bounds import PAGE_ROWS
from hanbeon.domain.event_cursor import MOST, GapReason
from hanbeon.domain.explain import ExplanationCode
from hanbeon.domain.hand_move import COMMENT_LIMIT
from hanbeon.domain.job import NAME_LIMIT
from hanbeon.rule import Rule
from hanbeon.surfaces.validation import EXPECTED

T = TypeVar("T")
CURSOR_DIGITS = 18

# The database stores no NUL.
STORABLE = r"^[^\x00]*$"
_UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
_JOB_PLACE = f"([0-9]{{1,{CURSOR_DIGITS}}}|{_UUID[1:-1]})"
_NAME_RULE = Rule("storable_string_from_to", low=1, high=NAME_LIMIT)
_CURSOR_RULE = Rule("next_cursor_of_page")

Name = Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT, pattern=STORABLE, extra={EXPECTED: _NAME_RULE})]
NameOrEmpty = Annotated[
    str,
    Meta(
        max_length=NAME_LIMIT,
        pattern=STORABLE,
        extra={EXPECTED: Rule("storable_string_at_most", high=NAME_LIMIT)},
    ),
]
_COMMENT_RULE = Rule("storable_string_from_to", low=1, high=COMMENT_LIMIT)
Comment = Annotated[
    str, Meta(min_length=1, max_length=COMMENT_LIMIT, pattern=STORABLE, extra={EXPECTED: _COMMENT_RULE})
]
# The length, because `$` also matches before a line end.
Uuid = Annotated[str, Meta(max_length=36, pattern=_UUID, extra={EXPECTED: Rule("uuid")})]
PageSize = Annotated[int, Meta(ge=1, le=PAGE_ROWS)]
PageNumber = Annotated[int, Meta(ge=0, le=1_000_000)]
"""Of lists that are read by page, from 0."""
Cursor = Annotated[str, Meta(pattern=f"^[0-9]{{1,{CURSOR_DIGITS}}}$", extra={EXPECTED: _CURSOR_RULE})]
JobCursor = Annotated[str, Meta(max_length=36, pattern=f"^{_JOB_PLACE}$", extra={EXPECTED: _CURSOR_RULE})]
BulkCursor = Annotated[
    str,
    Meta(
        max_length=36 + 1 + CURSOR_DIGITS,
        pattern=rf"^{_JOB_PLACE}\.[0-9]{{1,{CURSOR_DIGITS}}}$",
        extra={EXPECTED: Rule("next_cursor")},
    ),
]
IdCursor = Annotated[str, Meta(max_length=36, pattern=_UUID, extra={EXPECTED: _CURSOR_RULE})]
EventCursor = Annotated[
    str,
    Meta(
        max_length=36,
        pattern="^([0-9a-f]{16}:)?[0-9]{1,19}$",
        extra={EXPECTED: Rule("event_id", most=MOST)},
    ),
]


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all requests, in the body or in the query. A field that may be left out is UNSET by default."""

    null_is_absent: ClassVar[bool] = False


class PostBody(Request, frozen=True, kw_only=True):
    """Base of the bodies of POST requests, and of the objects in them: null in an optional field leaves it out.

    Clients often write what they do not give as null. A field of any JSON, or one whose type has a null of its own,
    keeps it.
    """

    null_is_absent: ClassVar[bool] = True


class MarkDone(PostBody, frozen=True, kw_only=True):
    """Why a job that failed or was cancelled is done all the same, and its result, if there is one."""

    comment: Comment
    result: Any | UnsetType = UNSET


class Retry(PostBody, frozen=True, kw_only=True):
    """A comment for the next attempts of a job that is retried, and other arguments for them."""

    comment: Comment | UnsetType = UNSET
    args: dict[str, Any] | UnsetType = UNSET


class ChannelQuery(Request, frozen=True, kw_only=True):
    """Events after the one with this id, or `<incarnation>:<id>`; 0 for all that are kept."""

    after: EventCursor | UnsetType = UNSET


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all results. Times are ISO-8601 in the zone of the installation."""

    def for_readers(self) -> Self:
        """The result as those see it who may read but not change it: without secrets."""
        return self


class Page(Result, Generic[T], frozen=True, kw_only=True):
    """One page of a list; pass `next_cursor` to get the next one, unless it is null."""

    items: list[T]
    next_cursor: str | None


class _ReasonDetails(TypedDict, total=False):
    status: str
    finished_at: str | None
    failure_type: str | None
    error_message: str | None
    attempt: int
    retry_count: int
    max_retries: int
    exception: str
    traceback: str
    marked_done_by: str
    comment: str
    replaced_by: str
    blocked_by: list[str]
    waits_for: list[str]
    instance: int | None
    overdue: bool
    seconds: int
    job: str | None
    stream: str
    workers: int | None
    sent: bool
    run_at: str
    queue: str
    role: str
    key: str
    limit: int
    holders: list[str]
    task: str


class ExplanationReason(_ReasonDetails):
    """A reason: its code, a sentence, and the details of that code, which are all that the sentence names."""

    code: ExplanationCode
    text: str


class JobLink(Result, frozen=True, kw_only=True):
    """A link to another tool."""

    name: str
    url: str


class Failure(Result, frozen=True, kw_only=True):
    """How an attempt failed. `exception`: the class that its body raised, with its bounded `traceback`."""

    type: str
    message: str
    exception: str | None
    traceback: str | None


class Explanation(Result, frozen=True, kw_only=True):
    """Why it does not run; `runnable`: nothing is in its way."""

    runnable: bool
    reasons: list[ExplanationReason]


class LogEntry(Result, frozen=True, kw_only=True, omit_defaults=True):
    """A line; or, with `lines`, how many lines from this one on were dropped."""

    attempt: int
    line: int
    at: str | None = None
    stream: str | None = None
    text: str | None = None
    unended: bool = False
    lines: int | None = None


class Log(Result, frozen=True, kw_only=True):
    entries: list[LogEntry]
    after: str
    more: bool


class Events(Result, Generic[T], frozen=True, kw_only=True):
    """Resume after `after`, which may be past the last of these; at once if there is `more`.

    `cursor` is `after` with the `incarnation` of the database: it is refused after a restore. `gap` is set if there may
    have been events between the given cursor and these: `pruned` after their retention, or the cursor was `ahead`.
    """

    items: list[T]
    after: int
    more: bool
    incarnation: str
    cursor: str
    gap: GapReason | None
