"""A wire between a client and its database or broker that a test can silence, slow down, cut and heal."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

from tests.databases.wire import Statement, StatementReader, is_answered

_CHUNK = 65_536
_LEAVE_SECONDS = 30.0
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER of zero seconds: closing sends RST, not FIN.
Ask = Callable[[bytes, int], Awaitable[bool]]
Match = Callable[[Statement], bool]


class Way(enum.Enum):
    TO_SERVER = "to the server"
    TO_CLIENT = "to the client"


class Moment(enum.Enum):
    BEFORE = "before it is sent on"
    AFTER = "once it is answered"
    MEANWHILE = "while it is on its way, for as long as the test likes"


class Fault:
    """A connection to be cut at the nth statement that matches."""

    def __init__(self, match: Match, nth: int, moment: Moment) -> None:
        self._match, self._left = match, nth
        self.moment = moment
        self.struck = asyncio.Event()
        self._deliver, self.answered = asyncio.Event(), asyncio.Event()

    async def deliver(self) -> None:
        """Let a statement that is on its way arrive; returns when the server has answered."""
        self._deliver.set()
        await self.answered.wait()

    async def delivery(self) -> None:
        await self._deliver.wait()

    def strikes(self, statements: list[Statement]) -> bool:
        if self.struck.is_set():
            return False
        self._left -= sum(map(self._match, statements))
        if self._left <= 0:
            self.struck.set()
        return self.struck.is_set()


class _Line:
    """One connection through the proxy: two streams, and for each direction a gate that it passes."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter, gates: dict[Way, asyncio.Event]) -> None:
        self.near, self.far, self.gates = near, far, dict(gates)
        self.reader = StatementReader()
        self.loses: Fault | None = None
        """The next answer of the server is dropped, and the connection reset."""
        self.server_left = asyncio.Event()

    @property
    def port(self) -> int:
        """The port by which the far side knows this connection."""
        port: int = self.far.get_extra_info("sockname")[1]
        return port

    async def passage(self, way: Way) -> None:
        """Wait until the gate is open; it may be replaced by another while somebody waits."""
        while not (gate := self.gates[way]).is_set() or gate is not self.gates[way]:
            await gate.wait()

    def reset(self, *writers: asyncio.StreamWriter) -> None:
        for writer in writers or (self.near, self.far):
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()


class FaultProxy:
    """Forwards TCP to one address. Silent, it lets nothing pass and refuses nothing, as a lost network does."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._gates = {way: asyncio.Event() for way in Way}
        for gate in self._gates.values():
            gate.set()
        self._lines: set[_Line] = set()
        self._carriers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._ask: Ask | None = None
        self._fault: Fault | None = None
        self.silenced = asyncio.Event()
        self.delay = 0.0
        """Seconds by which everything is late, in both directions."""

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    @property
    def url(self) -> str:
        """The target's URL by way of this proxy."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        account = self._target.netloc.rpartition("@")[0]
        return self._target._replace(netloc=f"{account}@127.0.0.1:{port}" if account else f"127.0.0.1:{port}").geturl()

    def cut_before(self, match: Match = lambda statement: statement.commits, nth: int = 1) -> Fault:
        """Reset the connection that is about to send the nth such statement, which the server never gets."""
        return self._armed(Fault(match, nth, Moment.BEFORE))

    def cut_after(self, match: Match = lambda statement: statement.commits, nth: int = 1) -> Fault:
        """Reset the connection of the nth such statement once the server has answered; the answer is lost."""
        return self._armed(Fault(match, nth, Moment.AFTER))

    def cut_meanwhile(self, match: Match = lambda statement: statement.commits, nth: int = 1) -> Fault:
        """Reset the client's side at the nth such statement, which reaches the server later, by `Fault.deliver`."""
        return self._armed(Fault(match, nth, Moment.MEANWHILE))

    def _armed(self, fault: Fault) -> Fault:
        self._fault = fault
        return fault

    def silence(self, *ways: Way) -> None:
        """Let nothing pass from now on, over existing and new connections, in one direction or in both."""
        for way in ways or Way:
            self._gates[way].clear()
        self.silenced.set()

    def silence_when(self, ask: Ask) -> None:
        """Go silent before the first chunk from the client for which `ask(chunk, port of the line)` returns true."""
        self._ask = ask

    def heal(self) -> None:
        """Deliver what was held back, and let everything pass again."""
        for gate in self._gates.values():
            gate.set()

    def strand(self) -> None:
        """Keep the current connections half-open: silent for good, and not closed; let new ones pass."""
        for line in self._lines:
            line.gates = {way: asyncio.Event() for way in Way}
        self.heal()

    def cut(self) -> None:
        """Reset all current connections; new ones pass, or wait if the proxy is silent."""
        for line in self._lines:
            line.reset()

    def redirect(self, url: str) -> None:
        """Reset all current connections, and lead new ones to another server, as a failover does."""
        self._target = urlsplit(url)
        self.cut()

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
            for gate in self._gates.values():
                await gate.wait()
            far_reader, far = await asyncio.open_connection(self._target.hostname, self._target.port)
        except BaseException as error:
            near.transport.abort()
            if isinstance(error, OSError):
                return
            raise
        line = _Line(near, far, self._gates)
        self._lines.add(line)
        try:
            await asyncio.gather(self._to_server(near_reader, line), self._to_client(far_reader, line))
        finally:
            line.near.transport.abort()
            line.far.transport.abort()
            self._lines.discard(line)

    async def _to_server(self, reader: asyncio.StreamReader, line: _Line) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                if self._ask is not None and not self.silenced.is_set() and await self._ask(data, line.port):
                    self.silence()
                statements = line.reader.feed(data)
                if (fault := self._fault) is not None and fault.strikes(statements):
                    if fault.moment is Moment.BEFORE:
                        # The client hears of it once the server has rolled back: a busy one holds locks until then.
                        line.far.write_eof()
                        with contextlib.suppress(TimeoutError):
                            await asyncio.wait_for(line.server_left.wait(), _LEAVE_SECONDS)
                        line.reset()
                        return
                    line.loses = fault
                    if fault.moment is Moment.MEANWHILE:
                        line.reset(line.near)
                        await fault.delivery()
                await self._forward(data, line, line.far, Way.TO_SERVER)
                if line.loses is not None and line.loses.moment is Moment.MEANWHILE:
                    await line.loses.answered.wait()  # The client is gone: nothing more comes from there.
        # A goodbye travels like everything else: not through a silent wire.
        await line.passage(Way.TO_SERVER)
        line.far.close()

    async def _to_client(self, reader: asyncio.StreamReader, line: _Line) -> None:
        lost = b""
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                if line.loses is not None:
                    lost = lost[-6:] + data
                    if is_answered(lost):
                        line.reset()
                        line.loses.answered.set()
                        return
                else:
                    await self._forward(data, line, line.near, Way.TO_CLIENT)
        line.server_left.set()
        await line.passage(Way.TO_CLIENT)
        line.near.close()

    async def _forward(self, data: bytes, line: _Line, writer: asyncio.StreamWriter, way: Way) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        await line.passage(way)
        writer.write(data)
        await writer.drain()


@contextlib.asynccontextmanager
async def fault_proxy(url: str) -> AsyncIterator[FaultProxy]:
    """A proxy to the server of this URL, PostgreSQL or any other; faults by statement need PostgreSQL."""
    proxy = FaultProxy(url)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.close()
