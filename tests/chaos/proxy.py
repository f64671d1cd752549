"""A wire between a worker and its database that a test can silence, heal and cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

_CHUNK = 65_536
Ask = Callable[[bytes, int], Awaitable[bool]]


class _Line:
    """One connection through the proxy: two streams, and a gate that both directions pass."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter, gate: asyncio.Event) -> None:
        self.near, self.far, self.gate = near, far, gate

    @property
    def port(self) -> int:
        """The port by which the far side knows this connection."""
        port: int = self.far.get_extra_info("sockname")[1]
        return port

    async def pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        look: Callable[[bytes, _Line], Awaitable[None]] | None = None,
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                if look is not None:
                    await look(data, self)
                await self._passage()
                writer.write(data)
                await writer.drain()
        # A goodbye travels like everything else: not through a silent wire.
        await self._passage()
        writer.close()

    async def _passage(self) -> None:
        """Wait until the gate is open; it may be replaced by another while somebody waits."""
        while not (gate := self.gate).is_set() or gate is not self.gate:
            await gate.wait()

    def abort(self) -> None:
        self.near.transport.abort()
        self.far.transport.abort()


class FaultProxy:
    """Forwards TCP to one address. Silent, it lets nothing pass and refuses nothing, as a lost network does."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._gate = asyncio.Event()
        self._gate.set()
        self._lines: set[_Line] = set()
        self._carriers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._ask: Ask | None = None
        self.silenced = asyncio.Event()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    @property
    def url(self) -> str:
        """The target's URL by way of this proxy."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        account = self._target.netloc.rpartition("@")[0]
        return self._target._replace(netloc=f"{account}@127.0.0.1:{port}").geturl()

    def silence(self) -> None:
        """Let nothing pass from now on, over existing and new connections; hold back what is sent."""
        self._gate.clear()
        self.silenced.set()

    def silence_when(self, ask: Ask) -> None:
        """Go silent before the first chunk from the client for which `ask(chunk, port of the line)` returns true."""
        self._ask = ask

    def heal(self) -> None:
        """Deliver what was held back, and let everything pass again."""
        self._gate.set()

    def strand(self) -> None:
        """Keep the current connections silent for good without closing them; let new ones pass."""
        for line in self._lines:
            line.gate = asyncio.Event()
        self.heal()

    def cut(self) -> None:
        """Reset all current connections; new ones pass, or wait if the proxy is silent."""
        for line in self._lines:
            line.abort()

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for carrier in self._carriers:
            carrier.cancel()
        await asyncio.gather(*self._carriers, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        carrier = asyncio.get_running_loop().create_task(self._carry(reader, writer))
        self._carriers.add(carrier)
        carrier.add_done_callback(self._carriers.discard)

    async def _carry(self, near_reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        try:
            await self._gate.wait()
            far_reader, far = await asyncio.open_connection(self._target.hostname, self._target.port)
        except BaseException as error:
            near.transport.abort()
            if isinstance(error, OSError):
                return
            raise
        line = _Line(near, far, self._gate)
        self._lines.add(line)
        try:
            await asyncio.gather(line.pump(near_reader, far, self._look), line.pump(far_reader, near))
        finally:
            line.abort()
            self._lines.discard(line)

    async def _look(self, data: bytes, line: _Line) -> None:
        if self._ask is not None and not self.silenced.is_set() and await self._ask(data, line.port):
            self.silence()


@contextlib.asynccontextmanager
async def fault_proxy(url: str) -> AsyncIterator[FaultProxy]:
    proxy = FaultProxy(url)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.close()
