"""How a call goes: sent, and sent again where that is safe, for as long as the caller has patience."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from hanbeon.client.flow import Emit, Flow, NoResponse, Response, Send, Sleep, Stream
from hanbeon.client.problems import StillUnfinished, Unreachable, problem_in
from hanbeon.client.route import Fill, Route, request_of, result_of

T = TypeVar("T")
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0
_FIRST_LOOK, _LONGEST_LOOK = 0.05, 1.0
_AWAY = (502, 503, 504)  # Of our own server, or of a proxy before it.
_KEY_SECONDS = 75.0
"""A server that died in the middle of a request keeps its key for a minute; after that it is done, or found done."""


class RetryConfig(NamedTuple):
    """How a client asks: `retry_for` seconds at the most, 0 to try once."""

    retry_for: float


class RetryBudget:
    """Whether a call is sent again, and after how long."""

    def __init__(self, retry: RetryConfig, *, repeatable: bool) -> None:
        self._limit, self._repeatable = retry.retry_for, repeatable
        self._began = time.monotonic()
        self._tries = 0

    def pause(self, came: Response | NoResponse) -> float | None:
        """Seconds until the next try; None if this is what stands."""
        limit, told = self._limit, None
        if isinstance(came, NoResponse):
            again = self._repeatable or not came.sent
        else:
            told = _retry_after(came)
            under_way = came.status == 409 and _code(came) == "still_under_way"
            again = self._repeatable and (came.status in _AWAY or under_way)
            if under_way and limit > 0:
                limit = max(limit, _KEY_SECONDS)
        backoff = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(self._tries, 10)) * random.uniform(0.5, 1.0)
        self._tries += 1
        wait = backoff if told is None else told
        return wait if again and time.monotonic() - self._began + wait < limit else None

    def begin_again(self) -> None:
        """Something came, so that the time counts from now."""
        self._began, self._tries = time.monotonic(), 0


def call(retry: RetryConfig, route: Route[T], ids: Mapping[str, str], fill: Fill) -> Flow[T]:
    """One call, done once: what creates has a key of its own, under which it may come again."""
    if route.creates and fill.key is None:
        fill = fill._replace(key=str(uuid.uuid4()))
    request = request_of(route, ids, fill)
    patience = RetryBudget(retry, repeatable=route.repeatable)
    while True:
        came: Response | NoResponse = yield Send(request)
        pause = patience.pause(came)
        if pause is None:
            break
        yield Sleep(pause)
    if isinstance(came, NoResponse):
        raise Unreachable(came.why)
    return result_of(route, came)


def wait(
    retry: RetryConfig,
    route: Route[T],
    ids: Mapping[str, str],
    fill: Fill,
    ended: Callable[[T], bool],
    timeout: float | None,
) -> Flow[T]:
    """The thing once it has ended, looked at again and again."""
    began, pause = time.monotonic(), _FIRST_LOOK
    while True:
        found = yield from call(retry, route, ids, fill)
        if ended(found):
            return found
        left = None if timeout is None else began + timeout - time.monotonic()
        if left is not None and left <= 0:
            raise StillUnfinished(f"it has not ended after {timeout:g} s, and goes on")
        yield Sleep(pause if left is None else min(pause, left))
        pause = min(_LONGEST_LOOK, pause * 1.5)


class Page(Protocol[T]):
    """What every list answers with."""

    @property
    def items(self) -> list[T]: ...

    @property
    def next_cursor(self) -> str | None: ...


def each_of(retry: RetryConfig, route: Route[Page[T]], ids: Mapping[str, str], fill: Fill) -> Stream[T]:
    """All that a list has, page by page."""
    query: dict[str, Any] = dict(fill.query)
    while True:
        page = yield from call(retry, route, ids, fill._replace(query=query))
        for item in page.items:
            yield Emit(item)
        if page.next_cursor is None:
            return
        query["cursor"] = page.next_cursor


def _code(answer: Response) -> str | None:
    problem = problem_in(answer)
    return None if problem is None else problem.code


def _retry_after(answer: Response) -> float | None:
    """In seconds; a date, which Hanbeon does not send, is passed over."""
    told = answer.headers.get("retry-after", "")
    return float(told) if told.isascii() and told.isdecimal() and len(told) < 6 else None
