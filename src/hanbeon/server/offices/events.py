"""The events of an office, by WebSocket and as a stream (SSE): the same messages, resumed in the same way."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from starlette.responses import Response

from hanbeon.domain.access import Need
from hanbeon.domain.job import check_whole
from hanbeon.errors import InvalidInput, OfficeNotFound
from hanbeon.events.follower import Follower
from hanbeon.server.context import ServerContext
from hanbeon.server.offices import bodies
from hanbeon.server.offices.routes import OFFICE
from hanbeon.server.operation import Operation, WebSocketOperation
from hanbeon.server.push.sse import EventStream
from hanbeon.server.request import ApiRequest
from hanbeon.surfaces.offices.service import Offices


def channel(context: ServerContext, offices: Offices) -> WebSocketOperation:
    async def follow(ask: ApiRequest) -> AbstractContextManager[Follower]:
        after = _after(ask)
        check_whole("after", after, 0)
        return await offices.following(context.broadcast, ask.path("id"), after)

    return WebSocketOperation(
        *("/ws/offices/{id}/events", Need.READ, follow, "Follow what happens; go on behind `after`."),
        query={"after": bodies.EventId},
    )


def operations(context: ServerContext, follow: WebSocketOperation) -> list[Operation]:
    async def events(ask: ApiRequest) -> Response:
        return EventStream(context, follow, ask, await follow.open(ask))

    return [
        Operation(
            *("GET", f"{OFFICE}/events", follow.need, events, "Follow what happens (SSE); go on behind `after`."),
            query=follow.query,
            media="text/event-stream",
            refuses=(OfficeNotFound,),
        )
    ]


def _after(ask: ApiRequest) -> Any:
    """Where to go on. A browser that reconnects tells by a header what it saw last."""
    seen = ask.request.headers.get("last-event-id")
    if seen is None:
        return ask.query.get("after", 0)
    if not (seen.isascii() and seen.isdecimal() and len(seen) < 19):
        raise InvalidInput("it is no id of an event", field="Last-Event-ID")
    return int(seen)
