"""Server-sent events (SSE): the messages of the WebSocket, for curl and for EventSource in browsers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hanbeon.domain.event_cursor import EventPosition
from hanbeon.events.follower import Delivered, EventGap, Message, MessageSource
from hanbeon.server.context import ServerContext
from hanbeon.server.middleware import HEAD_ONLY
from hanbeon.server.push.protocols import abort_of
from hanbeon.server.push.session import PushSession, SessionEnd
from hanbeon.server.push.websocket import data_of
from hanbeon.server.request import ApiRequest
from hanbeon.surfaces.operation import Channel

_RETRY_MS = 1_000
_HEADERS = {"X-Accel-Buffering": "no"}  # A buffering proxy would delay events.


class SseWire:
    """One streaming response."""

    def __init__(self, receive: Receive, send: Send, abort: Callable[[], None], position: EventPosition) -> None:
        self._receive, self._send, self._position = receive, send, position
        self.abort = abort

    async def send(self, message: Message) -> None:
        if isinstance(message, EventGap):  # Not an event, so it has no id to resume after.
            await self.write(b"event: gap\ndata: %s\n\n" % data_of(message))
            return
        # The ids name the incarnation: a browser sends back the last one when it reconnects.
        after, kind = (
            (message.id, message.type) if isinstance(message, Delivered) else (message.position.after, "opened")
        )
        cursor = self._position._replace(after=after).cursor
        await self.write(f"id: {cursor}\nevent: {kind}\ndata: ".encode() + data_of(message) + b"\n\n")

    async def beat(self) -> None:
        await self.write(b": still here\n\n")

    async def left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def end(self, ending: SessionEnd) -> None:
        """End the response. The client reconnects, and resumes or gets the error as a response."""
        await self.write(b"", more=False)

    async def write(self, data: bytes, *, more: bool = True) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": more})


class EventStream(Response):
    """A session as the response to a request."""

    media_type = "text/event-stream"

    def __init__(
        self,
        context: ServerContext,
        channel: Channel,
        request: ApiRequest,
        following: contextlib.AbstractContextManager[MessageSource],
    ) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._context, self._channel, self._request, self._following = context, channel, request, following

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get(HEAD_ONLY):
            await super().__call__(scope, receive, send)
            return
        request, authenticator = self._request.http, self._context.authenticator
        with self._following as follower, self._context.counts.connection(request.scope["route"].path):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            wire = SseWire(receive, send, abort_of(request), follower.position)
            await wire.write(f"retry: {_RETRY_MS}\n\n".encode())
            await PushSession(
                wire,
                follower,
                lambda: authenticator.admit_again(request, self._channel.need),
                self._context.stopping,
            ).run(self._context.counts.gap)
