"""A session between a simulated process and the server: what the process sends is held until it is released."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from hanbeon.testing.simulation.plan import Fault, FaultKind, Moment, Refusal
from hanbeon.testing.simulation.postgres.wire import Line, Message, Request, RequestReader
from hanbeon.testing.simulation.threads import latency
from hanbeon.testing.simulation.world import Node

if TYPE_CHECKING:
    from hanbeon.testing.simulation.postgres.proxy import Proxy

BARRIER = "simulated_barrier"
"""A channel of the proxy's: what it hears there has come after all that was notified before."""
_IDLE, _TRANSACTION = b"I", b"T"
_DELIVERED_THOUGH_DEAD = 0.5
_RECORDS_AN_END = ("'succeeded'", "complete_")
_RAISES = {
    Refusal.FULL: ("53100", "could not extend file: No space left on device"),
    Refusal.READONLY: ("25006", "cannot execute in a read-only transaction"),
}


class Session(asyncio.Transport):
    """The transport of a driver's connection, and the real session at the other end."""

    def __init__(self, proxy: Proxy, node: Node, protocol: Any, line: Line) -> None:
        super().__init__()
        self._proxy, self.node, self._protocol, self.line = proxy, node, protocol, line
        self._reader = RequestReader(node.name)
        self.queue: deque[Request] = deque()
        """What was sent, in this order, and is not released."""
        self.running: Request | None = None
        """What the server is working on."""
        self._answer: list[Message] = []
        self.is_blocked = False
        """It waits for a lock of another session."""
        self.pid = 0
        self.status = _IDLE
        self.listens = self._has_notified = False
        self._limits: dict[str, float] = {}
        self._arrives_at = self._delivered_at = 0.0
        self._idles = self._transactions = 0
        self._is_closed = self._is_lost = False

    @property
    def in_transaction(self) -> bool:
        return not self._is_closed and (self.running is not None or self.status != _IDLE)

    @property
    def is_writing(self) -> bool:
        """Never so that nobody else could write."""
        return False

    # What the driver calls

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._is_closed:
            for request in self._reader.feed(bytes(data)):
                self._send(request)

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def is_closing(self) -> bool:
        return self._is_closed

    def pause_reading(self) -> None:
        """Nothing: the driver keeps what it cannot use yet."""

    def resume_reading(self) -> None:
        """Nothing: see above."""

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._forget()
            self.node.world.later(None, latency(self.node), self._hang_up)
            self._tell_lost(None)

    # From the process to the server

    def _send(self, request: Request) -> None:
        world = self.node.world
        moments = [Moment.CALL]
        if any(word in request.sql for word in _RECORDS_AN_END):
            moments.append(Moment.RECORD)
        fault = None if request.kind in ("start", "cancel", "terminate") else self.node.due(*moments)
        # At once, but not while code of the process runs.
        world.later(None, 0.0, partial(self._sent, request, fault))

    def _sent(self, request: Request, fault: Fault | None) -> None:
        world = self.node.world
        if fault is not None:
            world.strike(self.node, fault)
        if not self.node.is_dead:
            self.queue.append(request)
            at = max(world.now, self.node.frozen_until) + latency(self.node)
            self._arrives_at = max(at, self._arrives_at)
            world.loop.at(self._arrives_at, None, self._arrive)

    def _arrive(self) -> None:
        """Release the next request, if faults let it pass."""
        if self.running is not None or not self.queue or self.line.is_over or self._is_lost:
            return
        request = self.queue[0]
        if request.kind == "statement" and not (request.begins or request.gives_up) and self._is_struck(request):
            return
        if not self._is_refused(request):
            self.release(self.queue.popleft())

    def _is_struck(self, request: Request) -> bool:
        """Let faults happen that waited for this statement; return true if it does not reach the server now."""
        moment = Moment.BEFORE_COMMIT if self._commits(request) else Moment.STATEMENT
        while (fault := self.node.due(moment)) is not None:
            if fault.kind is FaultKind.LOSE:
                self.cut()
                return True
            self.node.world.strike(self.node, fault)
            if self._is_lost:
                return True
            if fault.kind is FaultKind.FREEZE:
                self.node.world.loop.at(self.node.frozen_until + 1e-4, None, self._arrive)
                return True
        return False

    def release(self, request: Request) -> None:
        """Let the server have a request, and wait until it has answered or waits for a lock."""
        world = self.node.world
        self._idles += 1
        if request.begins:
            self._begin(request)
        elif limits := request.limits:
            self._limits |= limits
        if request.kind == "statement":
            world.statements += 1
        self._has_notified = self._has_notified or "notify" in request.sql.lower()
        self.running = request
        self._answer = []
        self._proxy.release(self, request.data)

    def _begin(self, request: Request) -> None:
        self._limits = request.limits
        self._transactions += 1
        if limit := self._limits.get("transaction_timeout"):
            self.node.world.later(None, limit, partial(self._took_too_long, self._transactions))

    def _commits(self, request: Request) -> bool:
        if self.status == _TRANSACTION:
            return request.ends
        return self.status == _IDLE and not (request.begins or request.only_reads)

    def _is_refused(self, request: Request) -> bool:
        node = self.node
        if node.refusal is None or node.refused_until <= node.world.now or request.kind == "terminate":
            return False
        if node.refusal is Refusal.IO:
            self.cut()
            return True
        if node.refusal is Refusal.BUSY:
            self.terminate()
            return True
        if request.kind == "statement" and not request.only_reads and not request.begins and not request.gives_up:
            code, text = _RAISES[node.refusal]
            if node.world.draw() >= 0.2:
                raises = f"DO $$BEGIN RAISE EXCEPTION '{text}' USING ERRCODE = '{code}'; END$$"
                self.queue[0] = Request("statement", Message(b"Q", raises.encode() + b"\0").raw, raises)
        return False

    # From the server to the process

    def read(self, seconds: float) -> bool:
        """Read what the server says within these real seconds; return true if it has answered."""
        assert self.running is not None
        self._answer += self.line.read(seconds)
        if not (self.line.is_over or self._is_answered()):
            return False
        self._answered(self.running)
        return True

    def _is_answered(self) -> bool:
        if not self._answer:
            return False
        kinds = {each.kind for each in self._answer}
        if b"Z" in kinds or b"G" in kinds:
            return True
        return self.running is not None and self.running.kind == "flush" and not kinds.isdisjoint((b"T", b"n", b"E"))

    def _answered(self, request: Request) -> None:
        world, answer = self.node.world, self._answer
        self.running, self.is_blocked, self._answer = None, False, []
        for message in answer:
            if message.kind == b"K":
                self.pid = int.from_bytes(message.body[:4])
            elif message.kind == b"Z":
                self.status = message.body
        if request.kind == "cancel":
            self._proxy.cancelled(int.from_bytes(request.data[8:12]))
        if self.line.is_over:
            self._over(answer)
            return
        failed = any(each.kind == b"E" for each in answer)
        if request.sql.startswith("LISTEN ") and not failed and not self.listens:
            self.listens = True
            self.line.send(Message(b"Q", f"LISTEN {BARRIER}\0".encode()).raw)
            while not any(each.kind == b"Z" for each in self.line.read(1.0)):
                pass
        committed = request.kind == "statement" and self.status == _IDLE and not failed and not request.only_reads
        if committed and not request.gives_up:
            world.commits += 1
            if self._strikes_after():
                return
        self.deliver(answer)
        if self.status == _IDLE:
            self._limits = {}
            self._transactions += 1
            if self._has_notified:
                self._has_notified = False
                self._proxy.pass_notifications()
        elif limit := self._limits.get("idle_in_transaction_session_timeout"):
            world.later(None, limit, partial(self._idled_too_long, self._idles))
        if self.queue:
            world.later(None, latency(self.node) / 4, self._arrive)

    def _strikes_after(self) -> bool:
        """Let faults happen that waited for this commit; return true if the answer is lost."""
        while (fault := self.node.due(Moment.AFTER_COMMIT)) is not None:
            if fault.kind is FaultKind.LOSE:
                self.cut()
                return True
            self.node.world.strike(self.node, fault)
            if self._is_lost:
                return True
        return False

    def deliver(self, messages: list[Message]) -> None:
        """Have the process receive these messages."""
        world = self.node.world
        notified = [each for each in messages if each.kind == b"A"]
        data = b"".join(each.raw for each in messages if each.kind != b"A")
        data += b"".join(each.raw for each in notified if self._proxy.passes(each))
        if data and not self._is_closed:
            self._delivered_at = max(self._delivered_at, world.now + latency(self.node))
            world.loop.at(self._delivered_at, None, partial(self._tell, data))

    def _tell(self, data: bytes) -> None:
        if not (self._is_closed or self.node.is_dead):
            self.node.world.loop.call_soon(self._received, data, context=self.node.context.copy())

    def _received(self, data: bytes) -> None:
        if not self._is_closed:
            self._protocol.data_received(data)

    # Ends

    def close_by_system(self) -> None:
        """The process is dead. What it sent just before may arrive nevertheless."""
        world = self.node.world
        self._is_closed = True
        if self.queue and self.running is None and not self._is_lost and world.draw() < _DELIVERED_THOUGH_DEAD:
            request = self.queue.popleft()
            if request.kind in ("statement", "flush"):
                self.release(request)
        self._hang_up()

    def cut(self) -> None:
        """Break the network between the two: the server rolls back, and the process gets an error."""
        self._hang_up()
        self._lose(ConnectionResetError("simulated: connection reset by peer"))

    def terminate(self) -> None:
        """Have the server end the session, as an administrator or a limit does."""
        self._proxy.terminate(self)
        self._over(self.line.read(1.0) if not self.line.is_over else [])

    def _over(self, last: list[Message]) -> None:
        self.deliver(last)
        self._hang_up()
        self._lose(None)

    def _lose(self, error: Exception | None) -> None:
        if not self._is_closed:
            world = self.node.world
            at = max(self._delivered_at, world.now + latency(self.node))
            world.loop.at(at, None, partial(self._lost, error))

    def _lost(self, error: Exception | None) -> None:
        if not (self._is_closed or self.node.is_dead):
            self._is_closed = True
            self._forget()
            self._tell_lost(error)

    def _tell_lost(self, error: Exception | None) -> None:
        self.node.world.loop.call_soon(self._protocol.connection_lost, error, context=self.node.context.copy())

    def _forget(self) -> None:
        if self in self.node.connections:
            self.node.connections.remove(self)

    def _hang_up(self) -> None:
        if not self._is_lost:
            self._is_lost = True
            self.status = _IDLE
            self._proxy.hang_up(self)

    def _idled_too_long(self, idles: int) -> None:
        if idles == self._idles and not self._is_lost and self.status != _IDLE:
            self.node.world.note(self.node, "the server ends an idle transaction")
            self.terminate()

    def _took_too_long(self, transactions: int) -> None:
        if transactions == self._transactions and not self._is_lost:
            self.node.world.note(self.node, "the server ends a long transaction")
            self.terminate()
