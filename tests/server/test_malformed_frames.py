"""Clients that break the WebSocket protocol: closed with the right code on every channel, without a traceback."""

import asyncio
import contextlib
import logging
import re
import socket
import struct
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from hanbeon.surfaces.registry import SURFACES
from tests.server.client import Client
from tests.server.websocket_client import PATIENCE, until

_CHANNELS = [channel.websocket for surface in SURFACES for channel in surface.channels]
_MASK = b"\0\0\0\0"
_KEY = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
_UPGRADE = f"Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{_KEY}"


def _frame(first: int, data: bytes = b"") -> bytes:
    """A masked frame of at most 125 bytes; `first` has the flags and the opcode."""
    return bytes([first, 0x80 | len(data)]) + _MASK + data


_PING = _frame(0x89, b"ping")
_FRAMES = {
    "reserved bits": (_frame(0xF1, b"x"), 1002),
    "unknown data opcode": (_frame(0x83, b"x"), 1002),
    "unknown control opcode": (_frame(0x8F), 1002),
    "long control frame": (b"\x89\xfe\x01\x00" + _MASK + b"x" * 256, 1002),
    "control frame in pieces": (_frame(0x09, b"x"), 1002),
    "unmasked": (b"\x81\x01x", 1002),
    "continuation of nothing": (_frame(0x80, b"x"), 1002),
    "text within a message": (_frame(0x01, b"x") + _frame(0x81, b"x"), 1002),
    "close within a message": (_frame(0x01, b"x") + _frame(0x88, b"\x03\xe8"), 1002),
    "text that is no UTF-8": (_frame(0x81, b"\xff\xfe"), 1007),
    "pieces that are no UTF-8": (_frame(0x01, b"\xed") + _frame(0x80, b"\xa0\x80"), 1007),
    "text that is no UTF-8, and a close": (_frame(0x81, b"\xff") + _frame(0x88, b"\x03\xe8"), 1000),
    "surrogate": (_frame(0x81, b"\xed\xa0\x80"), 1007),
    "close code 999": (_frame(0x88, b"\x03\xe7"), 1002),
    "close code 1005": (_frame(0x88, b"\x03\xed"), 1002),
    "close code 5000": (_frame(0x88, b"\x13\x88"), 1002),
    "close code of one byte": (_frame(0x88, b"\x03"), 1002),
    "close reason that is no UTF-8": (_frame(0x88, b"\x03\xe8\xff"), 1007),
    "long message": (b"\x82\xfe\x20\x00" + _MASK + b"x" * 8_192, 1009),
    "length of 2 ** 63": (b"\x82\xff\x80" + b"\0" * 7 + _MASK, 1009),
    "HTTP": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 1002),
    "zeros": (bytes(200), 1002),
}
_HALVES = [_frame(0x81, b"half of it")[:9], b"\x81", b"\x82\xfe\x0f", _frame(0x01, b"first piece"), b""]
_GARBAGE = [
    b"\x00\xff" * 50,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS.
    b"GET {path} HTTP/1.1\r\n" + _UPGRADE.encode() + b"Content-Length: 5\r\n\r\nhello" + _PING,
    b"GET {path} HTTP/1.1\r\n" + _UPGRADE.encode() + b"Content-Length: 50000\r\n\r\n" + _PING * 20,
    b"GET {path} HTTP/1.1\r\n" + _UPGRADE.encode() + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    b"GET {path} HTTP/1.1\r\n" + _UPGRADE.encode() + b"\r\n" + _frame(0xF1, b"x") + bytes(300),
    b"POST {path} HTTP/1.1\r\n" + _UPGRADE.encode() + b"\r\n",
    b"GET {path} HTTP/1.0\r\n" + _UPGRADE.encode() + b"\r\n",
    b"GET {path} HTTP/1.1\r\n" + _UPGRADE.encode() + b"Sec-WebSocket-Protocol: \xff,,\r\n\r\n",
    b"GET {path} HTTP/1.1\r\n" + _UPGRADE.encode() + b"Sec-WebSocket-Extensions: \x01;;=\r\n\r\n",
    b"GET {path}\xff HTTP/1.1\r\n" + _UPGRADE.encode() + b"\r\n",
    b"GET {path} HTTP/1.1\r\n" + _UPGRADE.encode(),
]


class _Raw(NamedTuple):
    """A connection, byte by byte."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def rest(self) -> bytes:
        """All that the server sends until it closes; what was received when it resets the connection."""
        received = b""
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while chunk := await self.reader.read(65_536):
                    received += chunk
        return received


@contextlib.asynccontextmanager
async def _raw(client: Client) -> AsyncIterator[_Raw]:
    parts = urlsplit(client.url)
    raw = _Raw(*await asyncio.open_connection(parts.hostname, parts.port))
    try:
        yield raw
    finally:
        raw.writer.close()
        with contextlib.suppress(OSError):
            await raw.writer.wait_closed()


@contextlib.asynccontextmanager
async def _opened(client: Client, path: str) -> AsyncIterator[_Raw]:
    async with _raw(client) as raw:
        raw.writer.write(f"GET {path} HTTP/1.1\r\n{_UPGRADE}\r\n".encode())
        async with asyncio.timeout(PATIENCE):
            head = await raw.reader.readuntil(b"\r\n\r\n")
        assert b" 101 " in head, head
        yield raw


def _close_code(received: bytes) -> int | None:
    """The code of the close frame among the frames of a server."""
    while len(received) >= 2:
        opcode, length, begin = received[0] & 15, received[1], 2
        if length == 126:
            length, begin = struct.unpack("!H", received[2:4])[0], 4
        if opcode == 8:
            return int(struct.unpack("!H", received[begin : begin + 2])[0])
        received = received[begin + length :]
    return None


async def _path(client: Client, channel: str) -> str:
    office = (await client.post("/api/offices", {"name": "Seoul"})).json["id"]
    chain = (await client.post("/api/chains", {"jobs": [{}]})).json["queue_id"]
    return channel.format(id=office, queue_id=chain)


async def _open(client: Client) -> tuple[float, float]:
    """The open WebSockets, and the open descriptors of this process."""
    text = (await client.get("/metrics")).body.decode()
    descriptors = re.search(r"^process_open_fds (\S+)", text, re.MULTILINE)
    assert descriptors is not None
    return sum(map(float, re.findall(r"hanbeon_open_connections\{.*\} (\S+)", text))), float(descriptors[1])


@contextlib.asynccontextmanager
async def _harmless(client: Client, caplog: pytest.LogCaptureFixture) -> AsyncIterator[None]:
    """Nothing is logged as a defect, and nothing stays open."""
    _, descriptors = await _open(client)
    with capture_logs() as lines:
        yield
        # The database, and the client, may open a few more meanwhile: far fewer than there were connections.
        await until(lambda: _is_closed(client, descriptors + 5))
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]
    assert not [line for line in lines if line["log_level"] not in ("debug", "info")]
    assert (await client.get("/healthz")).status == 200


async def _is_closed(client: Client, descriptors: float) -> bool:
    sockets, now = await _open(client)
    return not sockets and now <= descriptors


@pytest.mark.parametrize("channel", _CHANNELS)
async def test_malformed_frames_close_with_the_right_code(
    sqlite_server: Client, channel: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = await _path(sqlite_server, channel)
    async with _harmless(sqlite_server, caplog):
        codes = {}
        for name, (frame, _) in _FRAMES.items():
            for more in (b"", _PING + frame * 3):
                async with _opened(sqlite_server, path) as raw:
                    raw.writer.write(frame + more)
                    codes[name, bool(more)] = _close_code(await raw.rest())
    assert codes == {(name, more): code for name, (_, code) in _FRAMES.items() for more in (False, True)}


@pytest.mark.parametrize("channel", _CHANNELS)
async def test_half_frames_and_garbage_leave_nothing_behind(
    sqlite_server: Client, channel: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = await _path(sqlite_server, channel)
    async with _harmless(sqlite_server, caplog):
        for half in _HALVES:
            async with _opened(sqlite_server, path) as raw:
                raw.writer.write(half)
            async with _opened(sqlite_server, path) as raw:
                raw.writer.write(half)
                raw.writer.write_eof()
                await raw.rest()
            async with _opened(sqlite_server, path) as raw:
                raw.writer.write(half)
                reset = struct.pack("ii", 1, 0)
                raw.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        for garbage in _GARBAGE:
            for reads in (True, False):
                async with _raw(sqlite_server) as raw:
                    raw.writer.write(garbage.replace(b"{path}", path.encode()))
                    if reads:
                        raw.writer.write_eof()
                        await raw.rest()


async def test_client_that_still_sends_sees_the_close_code(
    sqlite_server: Client, caplog: pytest.LogCaptureFixture
) -> None:
    size = 8_000_000
    path = await _path(sqlite_server, _CHANNELS[0])
    async with _harmless(sqlite_server, caplog), _opened(sqlite_server, path) as raw:
        raw.writer.write(b"\x82\xff" + struct.pack("!Q", size) + _MASK + bytes(size))
        assert _close_code(await raw.rest()) == 1009
