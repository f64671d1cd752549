"""WebSockets: handshakes, authenticated like any request or rejected with a problem, and their sessions."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec
from starlette.routing import Match, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hanbeon.errors import HanbeonError
from hanbeon.events.follower import Delivered, EventGap, Message, MessageSource
from hanbeon.server.context import ServerContext
from hanbeon.server.problems import Refused, problem_of
from hanbeon.server.push.protocols import abort_of
from hanbeon.server.push.session import PushSession, SessionEnd
from hanbeon.server.request import ApiRequest, Handshake
from hanbeon.surfaces.operation import Channel


class WebSocketWire:
    """One WebSocket. The protocol sends the pings."""

    def __init__(self, receive: Receive, send: Send, abort: Callable[[], None]) -> None:
        self._receive, self._send = receive, send
        self.abort = abort

    async def send(self, message: Message) -> None:
        await self._send({"type": "websocket.send", "text": data_of(message).decode()})

    async def beat(self) -> None:
        return

    async def left(self) -> None:
        while (await self._receive())["type"] != "websocket.disconnect":
            pass  # Messages from clients are ignored.

    async def end(self, ending: SessionEnd) -> None:
        await self._send({"type": "websocket.close", "code": ending.code, "reason": ending.reason})


def data_of(message: Message) -> bytes:
    """The JSON of a message."""
    if isinstance(message, Delivered):
        return message.data
    if isinstance(message, EventGap):
        return msgspec.json.encode({"type": "gap", "after": message.after, "reason": message.reason})
    position = message.position
    return msgspec.json.encode({"type": "opened", "incarnation": position.incarnation, "after": position.after})


Follow = Callable[[ApiRequest], Coroutine[Any, Any, AbstractContextManager[MessageSource]]]


def websockets(context: ServerContext, channels: Sequence[tuple[Channel, Follow]]) -> ASGIApp:
    """Answer handshakes, and run a session on each accepted connection."""
    routes = [(WebSocketRoute(channel.websocket, _never), channel, follow) for channel, follow in channels]

    def channel_of(scope: Scope) -> tuple[Channel, Follow]:
        for route, channel, follow in routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found, route=route)
                return channel, follow
        raise Refused("no_such_path", "see /docs for all paths")

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # The connect message.
        try:
            await _run_session(context, *channel_of(scope), scope, receive, send)
            return
        except HanbeonError as error:
            response = problem_of(error)
        except Refused as error:
            response = error.response()
        await response(scope, receive, send)

    return answer


async def _run_session(
    context: ServerContext, channel: Channel, follow: Follow, scope: Scope, receive: Receive, send: Send
) -> None:
    request = Handshake(scope)
    principal = await context.authenticator.admit(request, channel.need)
    request.state.user = principal.user
    following = await follow(ApiRequest(request, principal))
    accepted: dict[str, Any] = {"type": "websocket.accept", "headers": []}
    if request.subprotocol is not None:
        accepted["subprotocol"] = request.subprotocol
    with following as follower, context.counts.connection(channel.websocket):
        await send(accepted)
        wire = WebSocketWire(receive, send, abort_of(request))
        await PushSession(
            wire, follower, lambda: context.authenticator.admit_again(request, channel.need), context.stopping
        ).run(context.counts.gap)


async def _never(*args: Any) -> None:
    """Placeholder endpoint: these routes are only used for matching."""
