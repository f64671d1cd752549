"""WebSockets: a handshake that is admitted like any request, or refused with a problem; then one session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.routing import Match, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hanbeon.errors import HanbeonError
from hanbeon.events.follower import Gap, Told
from hanbeon.server.ask import Ask, Handshake, kinds_of
from hanbeon.server.live.protocols import abort_of
from hanbeon.server.live.session import Ending, Session
from hanbeon.server.operation import Channel
from hanbeon.server.problems import Refused, problem_of
from hanbeon.server.state import House


class WebSocketWire:
    """One WebSocket. Pings are the protocol's business."""

    def __init__(self, receive: Receive, send: Send, abort: Callable[[], None]) -> None:
        self._receive, self._send = receive, send
        self.abort = abort

    async def send(self, message: Told | Gap) -> None:
        await self._send({"type": "websocket.send", "text": data_of(message).decode()})

    async def beat(self) -> None:
        return

    async def left(self) -> None:
        while (await self._receive())["type"] != "websocket.disconnect":
            pass  # Clients have nothing to say.

    async def end(self, ending: Ending) -> None:
        await self._send({"type": "websocket.close", "code": ending.code, "reason": ending.reason})


def data_of(message: Told | Gap) -> bytes:
    """The JSON of a message."""
    if isinstance(message, Gap):
        return msgspec.json.encode({"type": "gap", "after": message.after})
    return message.data


def websockets(house: House, channels: Sequence[Channel]) -> ASGIApp:
    """Answers handshakes: one session for each that a channel takes."""
    routes = [(WebSocketRoute(each.path, _never), each) for each in channels]

    def channel_of(scope: Scope) -> Channel:
        for route, channel in routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found, route=route)
                return channel
        raise Refused("no_such_path", "the page /docs lists what there is")

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # That it wants to connect.
        try:
            await _converse(house, channel_of(scope), scope, receive, send)
            return
        except HanbeonError as error:
            response = problem_of(error)
        except Refused as refused:
            response = refused.response()
        await response(scope, receive, send)

    return answer


async def _converse(house: House, channel: Channel, scope: Scope, receive: Receive, send: Send) -> None:
    request = Handshake(scope)
    who = await house.admission.admit(request, channel.need)
    request.state.user = who.user
    following = await channel.open(Ask(request, who, kinds_of(channel.query), 0))
    accepted: dict[str, Any] = {"type": "websocket.accept", "headers": []}
    if request.subprotocol is not None:
        accepted["subprotocol"] = request.subprotocol
    with following as follower, house.counts.connection(channel.path):
        await send(accepted)
        wire = WebSocketWire(receive, send, abort_of(request))
        await Session(wire, follower, lambda: house.admission.admit_again(request, channel.need), house.stopping).run(
            house.counts.gap
        )


async def _never(*args: Any) -> None:
    """Routes are asked for what they match, and for nothing else."""
