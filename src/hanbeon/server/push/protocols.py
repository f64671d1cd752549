"""Protocols with the limits that uvicorn lacks: clients that do not read, or do not send, hold no resources."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, ClassVar, cast

import h11
from starlette.requests import HTTPConnection
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from hanbeon.logs import get_logger
from hanbeon.server.connections import ConnectionLimit, RequestRest, RequestTimeout
from hanbeon.server.problems import response_bytes, too_many_connections

_log = get_logger("hanbeon.server")
PING_SECONDS = 20.0
MESSAGE_BYTES = 4_096
"""Maximum size of a client's message. Clients have nothing to send, so messages are dropped."""
_ABORT = "abort"
_SEND_BUFFER_BYTES = 131_072
"""By default the kernel would buffer megabytes for a client that reads nothing."""
_WRITE_BUFFER_BYTES = 65_536
_CLOSE_SECONDS = 2.0
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_RELEASE = "release"
_OF_SESSIONS = ("websocket.send", "websocket.close")


def abort_of(connection: HTTPConnection) -> Callable[[], None]:
    """Return a function that drops the connection at once, with all unsent data."""
    abort: Callable[[], None] = getattr(connection.state, _ABORT)
    return abort


class _Requests(h11.Connection):
    """Refuses a request with two lengths, where the library believes one of them."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request) and {b"content-length", b"transfer-encoding"} <= {
            name for name, _ in event.headers
        }:
            # A proxy that believes the other one would take the rest of the body for the next request, or vice versa.
            raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event


class Http(H11Protocol):
    """HTTP with a request timeout, and a way for the application to drop the connection."""

    seconds: ClassVar[float]
    limit: ClassVar[ConnectionLimit]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn = _Requests(h11.SERVER)
        self.app_state = {**self.app_state, _ABORT: self._abort}
        self._request_timeout = RequestTimeout(self.seconds, lambda: self.flow.read_paused, self._time_out)
        self._switched = False
        self._release: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._rest = RequestRest(transport)
        super().connection_made(cast(asyncio.Transport, self._rest))
        self._release = self.limit.admit(self.client[0] if self.client else "")
        if self._release is None:
            self._refuse()
            return
        # A WebSocket takes over the connection, and ends it in place of this protocol.
        self.app_state[_RELEASE] = self._release
        self._request_timeout.wait()

    def _refuse(self) -> None:
        """Answer at once, whatever is asked, and let go of the descriptor."""
        self.transport.write(response_bytes(too_many_connections()))
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        if self._rest.is_draining:
            self._rest.drop(len(data))
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and cycle.response_complete and self.conn.their_state is h11.SEND_BODY:
            self._rest.drop(len(data))
        self._request_timeout.wait()
        self._request_timeout.came(len(data))
        super().data_received(data)

    def handle_events(self) -> None:
        """Handle what was just received, or was received during the previous request."""
        super().handle_events()
        self._rest.unread = self._switched or self.conn.their_state in (h11.SEND_BODY, h11.ERROR)
        if self._switched or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._request_timeout.end()
        elif self.conn.their_state is h11.SEND_BODY:
            self._request_timeout.wait()
        if not self._rest.unread:
            self._rest.begin()

    def send_400_response(self, msg: str) -> None:
        self._rest.unread = True
        super().send_400_response(msg)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._switched = True
        super().handle_websocket_upgrade(event)

    def shutdown(self) -> None:
        if self._rest.is_draining:
            self.transport.abort()
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._request_timeout.end()
        self._rest.end()
        if self._release is not None:
            self._release()
        super().connection_lost(exc)

    def _time_out(self) -> None:
        _log.info("request_too_slow", address=self.client[0] if self.client else None)
        if self.conn.their_state is h11.IDLE:
            self.transport.write(_TOO_SLOW)
            self.transport.close()
        if not self.transport.is_closing() or self.transport.get_write_buffer_size():
            self.transport.abort()  # A handler waits for the body, or the client does not read.

    def _abort(self) -> None:
        self.transport.abort()


def limited_http(request_timeout: float, connections: ConnectionLimit) -> type[Http]:
    """Return a protocol that waits at most `request_timeout` seconds for a request, on so many connections."""

    class LimitedHttp(Http):
        seconds, limit = request_timeout, connections

    return LimitedHttp


class WebSocket(WebSocketsSansIOProtocol):
    """WebSockets with the same limits. A closed connection ends soon, even if the client does not cooperate."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app_state = {**self.app_state, _ABORT: self._abort}
        self.close_timeout = _CLOSE_SECONDS
        self._release: Callable[[], None] = self.app_state[_RELEASE]
        self._pong = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._rest = cast(RequestRest, transport)  # That of `Http`, which hands over its connection.
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(_WRITE_BUFFER_BYTES)
        opened = transport.get_extra_info("socket")
        if opened is not None:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)

    def data_received(self, data: bytes) -> None:
        if self._rest.is_draining:
            self._rest.drop(len(data))
            return
        if self.handshake_initiated and not self.handshake_complete:
            self.transport.abort()  # Data before the handshake has ended would be buffered without bound.
            return
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            self.transport.close()  # Not a handshake; nothing else would close it.

    def handle_parser_exception(self) -> None:
        if self.conn.close_sent is None:
            self.transport.abort()  # Uvicorn would raise here: there is no connection to close properly.
        else:
            super().handle_parser_exception()
            self._abort_soon()

    def handle_close(self, event: Frame) -> None:
        super().handle_close(event)
        self._abort_soon()

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_utf8(b"".join(self.frames)):
            # Uvicorn would log a traceback, and raise if the client has sent a close frame meanwhile.
            self.conn.fail(CloseCode.INVALID_DATA, "invalid UTF-8")
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        if self.transport.is_closing():
            return  # A frame that came with this one, and before it, has ended the connection.
        if self.writable.is_set():
            super().handle_ping()
        elif pong := b"".join(self.conn.data_to_send()):
            # Pongs would pile up for a client that reads nothing. The latest is enough, once there is room for it.
            self._pong = pong

    def resume_writing(self) -> None:
        super().resume_writing()
        pong, self._pong = self._pong, b""
        if pong and not self.close_sent and not self.transport.is_closing():
            self.transport.write(pong)

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()
        self._rest.end()
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._abort_soon()

    async def send(self, message: Any) -> None:
        if self.close_sent and message["type"] in _OF_SESSIONS:
            raise ClientDisconnected  # The client broke the rules of the protocol, which has closed the connection.
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True  # Rejected; uvicorn would log a missing response.
            self._abort_soon()
        elif message["type"] == "websocket.close":
            self._abort_soon()

    def shutdown(self) -> None:
        """Leave open sessions alone: they see the stop and close themselves; uvicorn would use another code."""
        if self._rest.is_draining:
            self.transport.abort()
        elif not self.handshake_complete or self.close_sent:
            super().shutdown()

    def _abort(self) -> None:
        self.transport.abort()

    def _abort_soon(self) -> None:
        """Abort after a timeout: closing waits until the client has read everything, which may be never."""
        self.loop.call_later(_CLOSE_SECONDS + 1, self.transport.abort)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
