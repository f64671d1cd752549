"""Messages with a length in front, over stream sockets; one that is too long is rejected before it is buffered."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from typing import Any

_HEADER = struct.Struct(">I")
SMALL = 4 * 1024 * 1024  # More than arguments and environment of a process may take together.


class TooLong(Exception):
    """A message over the limit: the connection can no longer be trusted."""


class Frames:
    """Reassembles messages from a byte stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._buffer += data
        while len(self._buffer) >= _HEADER.size:
            (size,) = _HEADER.unpack_from(self._buffer)
            if size > self._limit:
                raise TooLong(f"a message of {size:,} bytes; the limit is {self._limit:,}")
            end = _HEADER.size + size
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[_HEADER.size : end])
            del self._buffer[:end]
            yield frame


def check_length(frame: bytes, limit: int) -> None:
    """Raise `TooLong` for a message that is too long to be sent."""
    if (size := len(frame) - _HEADER.size) > limit:
        raise TooLong(f"a message of {size:,} bytes; the limit is {limit:,}")


def framed(payload: bytes) -> bytes:
    return _HEADER.pack(len(payload)) + payload


def packed(**message: Any) -> bytes:
    return framed(json.dumps(message).encode())


def unpacked(frame: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(frame)
    return message


def read_frame(connection: socket.socket, limit: int) -> bytes | None:
    """Return the next message from a blocking socket; None when the other side is gone."""
    header = _read(connection, _HEADER.size)
    if header is None:
        return None
    (size,) = _HEADER.unpack(header)
    if size > limit:
        raise TooLong(f"a message of {size:,} bytes; the limit is {limit:,}")
    return _read(connection, size)


def _read(connection: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 65_536))
        if not part:
            return None
        parts += part
    return bytes(parts)
