"""A real HTTP server on loopback that does to the byte what a test says, and a network that leads to it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import httpcore2

CHUNK = b"x" * 65_536


class Seen(NamedTuple):
    """A request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Peer:
    """A client's connection, seen from the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.sent = 0

    async def request(self) -> Seen | None:
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return Seen(method, target, headers, body)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        self.sent += len(data)

    async def closed(self) -> None:
        """Returns when the client has closed the connection."""
        while await self._reader.read(65_536):
            pass


Reply = bytes | Callable[[Peer], Awaitable[None]]


def reply(status: int = 200, body: bytes | str = b"", headers: Mapping[str, str] | None = None) -> bytes:
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    if not {"content-length", "transfer-encoding"} & {name.lower() for name in headers or {}}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def json_reply(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    return reply(status, text, {"Content-Type": "application/json", **(headers or {})})


class Web:
    """`async with Web(reply(503), reply(200)) as web:` answers in this order; the last one again and again."""

    def __init__(self, *replies: Reply, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.port = port
        self._replies, self._tls = replies or (reply(),), tls
        self.answer: Callable[[Seen], Reply] | None = None
        """Return the response to a request, if it depends on it."""
        self._serving: set[asyncio.Task[None]] = set()
        self.seen: list[Seen] = []
        self.peers: list[Peer] = []
        self.asked = asyncio.Event()
        self.left = asyncio.Event()

    async def __aenter__(self) -> Web:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def open(self) -> int:
        """How many connections there are."""
        return len(self._serving)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        peer = Peer(reader, writer)
        self.peers.append(peer)
        try:
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                while (seen := await peer.request()) is not None:
                    said = self._replies[min(len(self.seen), len(self._replies) - 1)]
                    said = said if self.answer is None else self.answer(seen)
                    self.seen.append(seen)
                    self.asked.set()
                    if isinstance(said, bytes):
                        await peer.send(said)
                    else:
                        await said(peer)
                        break
        finally:
            self.left.set()
            self._serving.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()


async def silence(peer: Peer) -> None:
    """Never answers; over when the client has gone."""
    await peer.closed()


def begun(head: bytes) -> Callable[[Peer], Awaitable[None]]:
    """Begins an answer and never ends it."""

    async def begin(peer: Peer) -> None:
        await peer.send(head)
        await peer.closed()

    return begin


def endless(headers: str = "Transfer-Encoding: chunked") -> Callable[[Peer], Awaitable[None]]:
    """An answer that has no end."""

    async def flood(peer: Peer) -> None:
        await peer.send(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode())
        chunk = CHUNK if "Length" in headers else b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK)
        while True:
            await peer.send(chunk)

    return flood


def broken(data: bytes) -> Callable[[Peer], Awaitable[None]]:
    """Says this, and closes the connection."""

    async def say(peer: Peer) -> None:
        await peer.send(data)

    return say


class Names:
    """A name server: what each name leads to, one answer after the other; the last one again and again."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self._names = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._names[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Routes(httpcore2.AsyncNetworkBackend):
    """A network in which addresses of the internet are servers of the test."""

    def __init__(self, routes: Mapping[str, Web | None]) -> None:
        self._routes = routes
        self._real = httpcore2.AnyIOBackend()
        self.reached: list[str] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.reached.append(host)
        web = self._routes[host]
        if web is None:
            raise httpcore2.ConnectError("nobody is there")
        return await self._real.connect_tcp("127.0.0.1", web.port, timeout, local_address, socket_options)


def job_headers(seen: Seen) -> dict[str, Any]:
    """Return the headers of a request about its job."""
    return {name: value for name, value in seen.headers.items() if name.startswith(("hanbeon-", "idempotency-"))}
