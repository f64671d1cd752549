"""Calls: requests with retries where those are safe, for as long as the caller allows."""

from __future__ import annotations

import functools
import random
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from hanbeon.client.flow import Emit, Flow, NoResponse, Request, Response, Send, Sleep, Stream
from hanbeon.client.problems import StillUnfinished, Unreachable, problem_in, unexpected
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
from hanbeon.surfaces.operation import Operation
from hanbeon.wait import pauses

KEY = "Idempotency-Key"


class Fill(NamedTuple):
    """The values of one call. None in `query` is omitted; so is UNSET in `body`."""

    ids: Mapping[str, Any] = {}
    query: Mapping[str, Any] = {}
    body: Mapping[str, Any] | None = None
    expected: int | None = None
    key: str | None = None
    timeout: float | None = None
    """Of a wait."""
    file: str | None = None
    """The file to upload, or to download to."""


def request_of(method: str, path: str, fill: Fill) -> Request:
    headers: dict[str, str] = {}
    body = None
    if fill.body is not None:
        given = {name: sent(value) for name, value in fill.body.items() if value is not msgspec.UNSET}
        body = to_json_text(given, "the request", "body").encode()
        headers["Content-Type"] = "application/json"
    if fill.expected is not None:
        headers["If-Match"] = f'"{fill.expected}"'
    if fill.key is not None:
        headers[KEY] = fill.key
    ids = {name: _in_path(name, value) for name, value in fill.ids.items()}
    transfer = {} if fill.file is None else {"save" if method == "GET" else "upload": fill.file}
    return Request(method, path.format_map(ids), _query(fill.query), headers, body, **transfer)


def result_of(operation: Operation, answer: Response, part: str | None) -> Any:
    """Return the result of a response, or this part of it, or raise its error. Fields of a newer server are ignored."""
    check(answer)
    kind = next(iter(operation.responses.values()))
    if kind is None:
        return None
    body = decoded(kind, answer)
    if operation.result is not None:
        # The response is a part of the result; the rest is in its status and headers.
        rest: dict[str, Any] = {}
        if operation.accepted is not None:
            rest[operation.accepted] = answer.status == 202
        if operation.versioned:
            rest["version"] = _version(answer)
        return operation.result(**{operation.part or "": body}, **rest)
    return body if part is None else getattr(body, part)


def check(answer: Response) -> None:
    """Raise the error of a response that is not 2xx."""
    if not 200 <= answer.status < 300:
        raise problem_in(answer) or unexpected(answer)


def decoded(kind: Any, answer: Response) -> Any:
    try:
        return _decoder(kind).decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise unexpected(answer) from error


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _version(answer: Response) -> int:
    tag = answer.headers.get("etag", "").removeprefix("W/").strip('"')
    return int(tag) if tag.isdecimal() else 0


def sent(value: Any) -> Any:
    """Structs without the fields that have their default: an older server rejects fields that it does not know."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(value)
        given = {field.encode_name: (field.default, getattr(value, field.name)) for field in fields}
        return {name: sent(own) for name, (default, own) in given.items() if own is not default}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return [sent(each) for each in value]
    return value


def _in_path(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else str(getattr(value, "id", value))
    if not text.strip("."):
        raise InvalidInput(
            Rule("must_be", what=Rule("id"), got=repr(text)), field=name
        )  # It would lead to another path.
    return quote(text, safe="")


def _query(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for name, value in given.items():
        if value is not None and value is not msgspec.UNSET:
            many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
            pairs += [(name, _text(each)) for each in many]
    return tuple(pairs)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0
_AWAY = (502, 503, 504)  # From the server, or from a proxy in front of it.
_KEY_SECONDS = 75.0
"""The key of a request whose server died stays locked for a minute; then a repeated request takes it over."""


class RetryConfig(NamedTuple):
    """How long a client retries: at most `retry_for` seconds; 0 means a single attempt."""

    retry_for: float


class RetryBudget:
    """Decides if a call is sent again, and after how long."""

    def __init__(self, retry: RetryConfig, *, repeatable: bool) -> None:
        self._limit, self._repeatable = retry.retry_for, repeatable
        self._began = time.monotonic()
        self._tries = 0

    def pause(self, came: Response | NoResponse) -> float | None:
        """Return the seconds until the next attempt; None if this response is final."""
        limit, retry_after = self._limit, None
        if isinstance(came, NoResponse):
            again = self._repeatable or not came.sent
        else:
            retry_after = _retry_after(came)
            under_way = came.status == 409 and _code(came) == "still_under_way"
            again = self._repeatable and (came.status in _AWAY or under_way)
            if under_way and limit > 0:
                limit = max(limit, _KEY_SECONDS)
        backoff = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(self._tries, 10)) * random.uniform(0.5, 1.0)
        self._tries += 1
        wait = backoff if retry_after is None else retry_after
        return wait if again and time.monotonic() - self._began + wait < limit else None

    def begin_again(self) -> None:
        """Start over: the server has responded."""
        self._began, self._tries = time.monotonic(), 0


def call(retry: RetryConfig, operation: Operation, fill: Fill, *, part: str | None = None) -> Flow[Any]:
    """Run one call, and return this part of its response.

    A call that creates something gets its own Idempotency-Key, so that it can be retried safely.
    """
    if operation.creates and fill.key is None:
        fill = fill._replace(key=str(uuid.uuid4()))
    request = request_of(operation.method, operation.path, fill)
    budget = RetryBudget(retry, repeatable=operation.repeatable)
    while True:
        came: Response | NoResponse = yield Send(request)
        pause = budget.pause(came)
        if pause is None:
            break
        yield Sleep(pause)
    if isinstance(came, NoResponse):
        raise Unreachable(came.why)
    return result_of(operation, came, part)


def wait(retry: RetryConfig, operation: Operation, fill: Fill) -> Flow[Any]:
    """Poll until the resource has ended, and return it."""
    ended = operation.client.ended
    assert ended is not None, f"{operation.path} has no end to wait for"
    began = time.monotonic()
    for pause in pauses():
        found = yield from call(retry, operation, fill)
        if ended(found):
            return found
        left = None if fill.timeout is None else began + fill.timeout - time.monotonic()
        if left is not None and left <= 0:
            raise StillUnfinished(f"it has not finished within {fill.timeout:g} s; it continues")
        yield Sleep(pause if left is None else min(pause, left))


def each_of(retry: RetryConfig, operation: Operation, fill: Fill) -> Stream[Any]:
    """Yield all items of a list, page by page."""
    while True:
        page = yield from call(retry, operation, fill)
        for item in page.items:
            yield Emit(item)
        if page.next_cursor is None:
            return
        fill = _next_page(fill, page)


def gathered(retry: RetryConfig, operation: Operation, fill: Fill) -> Flow[Any]:
    """Return all pages as one: their lists joined."""
    pages = []
    while True:
        page = yield from call(retry, operation, fill)
        pages.append(page)
        if page.next_cursor is None:
            break
        fill = _next_page(fill, page)
    lists = [name for name in page.__struct_fields__ if isinstance(getattr(page, name), list)]
    joined = {name: [item for each in pages for item in getattr(each, name)] for name in lists}
    return msgspec.structs.replace(page, **joined)


def _next_page(fill: Fill, page: Any) -> Fill:
    return fill._replace(query={**fill.query, "cursor": page.next_cursor})


def _code(answer: Response) -> str | None:
    problem = problem_in(answer)
    return None if problem is None else problem.code


def _retry_after(answer: Response) -> float | None:
    """Return Retry-After in seconds; a date, which Hanbeon does not send, is ignored."""
    value = answer.headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdecimal() and len(value) < 6 else None
