"""What the server can be asked: method, path, who may, and which words it takes. Routes and API page come from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from hanbeon.domain.access import Need
from hanbeon.errors import HanbeonError
from hanbeon.events.follower import Follower
from hanbeon.server.request import ApiRequest


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


Answer = Callable[[ApiRequest], Awaitable[Reply | Response]]


Open = Callable[[ApiRequest], Awaitable[AbstractContextManager[Follower]]]


class WebSocketOperation(NamedTuple):
    """One thing to follow by WebSocket. `open` refuses, or gives what is sent from then on."""

    path: str
    need: Need
    open: Open
    summary: str
    query: Mapping[str, Any] = {}


class Operation(NamedTuple):
    """One thing to ask for.

    `query`: its parameters, each by the type of what it takes, which may be annotated with bounds; `body` and `shapes`:
    what goes in and out.
    """

    method: str
    path: str
    need: Need
    answer: Answer
    summary: str
    query: Mapping[str, Any] = {}
    body: Any = None
    may_be_empty: bool = False
    """No body at all is as good as an empty object."""
    shapes: Mapping[int, Any] = {}
    creates: bool = False
    """It makes something, so that a request with an Idempotency-Key may come again."""
    media: str = "application/json"
    refuses: tuple[type[HanbeonError], ...] = ()
    """Beside what every request of its form may meet (see `refusals`)."""
    tagged: bool = False
    """Its answer has an ETag; a change takes it back as If-Match."""
    gives: Mapping[str, str] = {}
    """For parameters of paths below its own: where its answer names what it made, as OpenAPI writes it."""
    quiet: bool = False
    """Asked for by machines all the time, and not worth a line of the log."""
