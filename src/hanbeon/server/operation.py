"""What the server can be asked: method, path, who may, and which words it takes. Routes and API page come from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from hanbeon.domain.access import Need
from hanbeon.events.follower import Follower
from hanbeon.server.ask import Ask


class Reply(NamedTuple):
    """A value to be answered as JSON."""

    value: Any
    status: int = 200
    headers: Mapping[str, str] | None = None

    def response(self) -> Response:
        if self.status == 204:
            return Response(status_code=self.status)
        return Response(
            msgspec.json.encode(self.value), self.status, dict(self.headers or {}), media_type="application/json"
        )


def etag(version: int) -> dict[str, str]:
    """The header for `If-Match`."""
    return {"ETag": f'"{version}"'}


Answer = Callable[[Ask], Awaitable[Reply | Response]]


Open = Callable[[Ask], Awaitable[AbstractContextManager[Follower]]]


class Channel(NamedTuple):
    """One thing to follow by WebSocket. `open` refuses, or gives what is sent from then on."""

    path: str
    need: Need
    open: Open
    summary: str
    query: Mapping[str, type] = {}


class Operation(NamedTuple):
    """One thing to ask for. `query`: the kinds of its parameters; `body` and `shapes`: what goes in and out."""

    method: str
    path: str
    need: Need
    answer: Answer
    summary: str
    query: Mapping[str, type] = {}
    body: Any = None
    shapes: Mapping[int, Any] = {}
    creates: bool = False
    """It makes something, so that a request with an Idempotency-Key may come again."""
    quiet: bool = False
    """Asked for by machines all the time, and not worth a line of the log."""
