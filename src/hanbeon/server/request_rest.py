"""The rest of a request that was answered before all of it had come: read and dropped, within bounds.

A connection that is closed while its client still sends is reset by the kernel, and the client may never see the
response, such as the 413 to a body that is too large, or the code with which its WebSocket was closed.
"""

from __future__ import annotations

import asyncio
from typing import Any

MOST_BYTES = 67_108_864
MOST_SECONDS = 30.0


class RequestRest:
    """The transport of a connection, with a `close` that waits for the rest of the request if it is `unread`."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._dropped = 0
        self._timer: asyncio.TimerHandle | None = None
        self.unread = False
        """Set while the client has not sent the whole request, and always for a WebSocket, whose clients send on."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def is_draining(self) -> bool:
        return self._timer is not None

    def close(self) -> None:
        if self.is_draining:
            return
        if not self.unread or self.is_closing() or not self._transport.can_write_eof():
            self._transport.close()
            return
        self._timer = asyncio.get_running_loop().call_later(MOST_SECONDS, self._transport.abort)
        self._transport.write_eof()  # The client sees the end of the response, and may close.
        self._transport.resume_reading()

    def is_closing(self) -> bool:
        return self.is_draining or self._transport.is_closing()

    def drop(self, size: int) -> None:
        """Count bytes that nobody waits for, and give up on a client that sends too many of them."""
        self._dropped += size
        if self._dropped > MOST_BYTES:
            self._transport.abort()

    def begin(self) -> None:
        """Begin to count again: the next request has begun."""
        self._dropped = 0

    def end(self) -> None:
        """The connection is lost."""
        if self._timer is not None:
            self._timer.cancel()
