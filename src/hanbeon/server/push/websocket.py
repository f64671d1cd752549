"""WebSockets: a handshake that is admitted like any request, or refused with a problem; then one session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.routing import Match, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hanbeon.errors import HanbeonError
from hanbeon.events.follower import Delivered, EventGap
from hanbeon.server.context import ServerContext
from hanbeon.server.operation import WebSocketOperation
from hanbeon.server.problems import Refused, problem_of
from hanbeon.server.push.protocols import abort_of
from hanbeon.server.push.session import PushSession, SessionEnd
from hanbeon.server.request import ApiRequest, Handshake, kinds_of


class WebSocketWire:
    """One WebSocket. Pings are the protocol's business."""

    def __init__(self, receive: Receive, send: Send, abort: Callable[[], None]) -> None:
        self._receive, self._send = receive, send
        self.abort = abort

    async def send(self, message: Delivered | EventGap) -> None:
        await self._send({"type": "websocket.send", "text": data_of(message).decode()})

    async def beat(self) -> None:
        return

    async def left(self) -> None:
        while (await self._receive())["type"] != "websocket.disconnect":
            pass  # Clients have nothing to say.

    async def end(self, ending: SessionEnd) -> None:
        await self._send({"type": "websocket.close", "code": ending.code, "reason": ending.reason})


def data_of(message: Delivered | EventGap) -> bytes:
    """The JSON of a message."""
    if isinstance(message, EventGap):
        return msgspec.json.encode({"type": "gap", "after": message.after})
    return message.data


def websockets(context: ServerContext, channels: Sequence[WebSocketOperation]) -> ASGIApp:
    """Answers handshakes: one session for each that a channel takes."""
    routes = [(WebSocketRoute(each.path, _never), each) for each in channels]

    def channel_of(scope: Scope) -> WebSocketOperation:
        for route, channel in routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found, route=route)
                return channel
        raise Refused("no_such_path", "the page /docs lists what there is")

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # That it wants to connect.
        try:
            await _converse(context, channel_of(scope), scope, receive, send)
            return
        except HanbeonError as error:
            response = problem_of(error)
        except Refused as refused:
            response = refused.response()
        await response(scope, receive, send)

    return answer


async def _converse(
    context: ServerContext, channel: WebSocketOperation, scope: Scope, receive: Receive, send: Send
) -> None:
    request = Handshake(scope)
    who = await context.authenticator.admit(request, channel.need)
    request.state.user = who.user
    following = await channel.open(ApiRequest(request, who, kinds_of(channel.query), 0))
    accepted: dict[str, Any] = {"type": "websocket.accept", "headers": []}
    if request.subprotocol is not None:
        accepted["subprotocol"] = request.subprotocol
    with following as follower, context.counts.connection(channel.path):
        await send(accepted)
        wire = WebSocketWire(receive, send, abort_of(request))
        await PushSession(
            wire, follower, lambda: context.authenticator.admit_again(request, channel.need), context.stopping
        ).run(context.counts.gap)


async def _never(*args: Any) -> None:
    """Routes are asked for what they match, and for nothing else."""
