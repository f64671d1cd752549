"""Servers that stop and restart at the same address, and a proxy that breaks connections."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from hanbeon import App
from hanbeon.server.context import ServerContext
from hanbeon.server.server import Server, bound
from tests.databases.ports import free_port


class Restartable:
    """A server at one port, which can be stopped and started again."""

    def __init__(self, app: App) -> None:
        self._app, self._port = app, free_port()
        self._stack = contextlib.AsyncExitStack()
        self.url = ""

    async def start(self) -> None:
        sockets = self._stack.enter_context(bound("127.0.0.1", self._port))
        server = Server(ServerContext(self._app, None), sockets)
        self.url = server.url
        running = asyncio.create_task(server.run())

        async def end() -> None:
            server.stop_soon()
            await running

        self._stack.push_async_callback(end)

    async def stop(self) -> None:
        await self._stack.aclose()

    async def __aenter__(self) -> Restartable:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()


class FaultyProxy:
    """A proxy in front of a server. The first connections each get an entry of `first`, later ones pass through.

    b"" forwards the request, waits for the response, and closes the connection instead of returning it. Any
    other text is returned as the response, and the server gets nothing.
    """

    def __init__(self, url: str, first: list[bytes]) -> None:
        self._host, self._port = str(urlsplit(url).hostname), urlsplit(url).port
        self._first = first
        self.requests: list[bytes] = []
        self.url = ""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await self._request(reader)
            self.requests.append(request)
            canned = self._first.pop(0) if self._first else None
            if canned:
                writer.write(canned)
                await writer.drain()
                return
            upstream, sending = await asyncio.open_connection(self._host, self._port)
            try:
                sending.write(request)
                answer = await upstream.readuntil(b"\r\n\r\n")
                if canned is None:
                    writer.write(answer)
                    while part := await upstream.read(65_536):
                        writer.write(part)
                        await writer.drain()
            finally:
                sending.close()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        length = [line for line in head.lower().splitlines() if line.startswith(b"content-length:")]
        body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
        # One request for each connection, so that each is counted.
        return head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body


@contextlib.asynccontextmanager
async def faulty_proxy(url: str, first: list[bytes]) -> AsyncIterator[FaultyProxy]:
    proxy = FaultyProxy(url, first)
    server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
    async with server:
        proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield proxy
