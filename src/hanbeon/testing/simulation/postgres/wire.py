"""PostgreSQL's protocol, as far as a proxy reads it, and a plain blocking connection of the simulation's own."""

from __future__ import annotations

import re
import select
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_CANCEL = 80877102
_PROTOCOL = 0x30000
_CHUNK = 65_536
_INTEGERS = (20, 21, 23, 26)
_BOOLEAN = 16
_BEGINS = re.compile(r"\s*(BEGIN|START)\b", re.IGNORECASE)
_ENDS = re.compile(r"\s*(COMMIT|END)\b", re.IGNORECASE)
_GIVES_UP = re.compile(r"\s*(ROLLBACK|ABORT)\b", re.IGNORECASE)
_ONLY_READS = re.compile(r"\s*(SELECT|SET|SHOW|LISTEN|UNLISTEN|DEALLOCATE)\b", re.IGNORECASE)
_LIMITS = re.compile(r"SET LOCAL (idle_in_transaction_session_timeout|transaction_timeout) = '?(\d+)(s|min)?'?")


class Message(NamedTuple):
    kind: bytes
    body: bytes

    @property
    def raw(self) -> bytes:
        return self.kind + struct.pack("!I", len(self.body) + 4) + self.body


class Request(NamedTuple):
    """Messages of a client for which it awaits one answer."""

    kind: str
    """`start`, `cancel`, `statement`, `flush` (it is only prepared), `rest` (the end of a copy or of a prepared
    statement), `terminate`."""
    data: bytes
    sql: str

    @property
    def begins(self) -> bool:
        return _BEGINS.match(self.sql) is not None

    @property
    def ends(self) -> bool:
        return _ENDS.match(self.sql) is not None

    @property
    def gives_up(self) -> bool:
        return _GIVES_UP.match(self.sql) is not None

    @property
    def only_reads(self) -> bool:
        return _ONLY_READS.match(self.sql) is not None

    @property
    def limits(self) -> dict[str, float]:
        """The limits that it sets for its transaction, in seconds; 0: none."""
        return {name: float(number) * (60 if unit == "min" else 1) for name, number, unit in _LIMITS.findall(self.sql)}


class RequestReader:
    """Reads what one client sends. Statements prepared by name are found again by that name."""

    def __init__(self, application: str) -> None:
        """`application`: the name that the session gets."""
        self._application = application.encode()
        self._rest = bytearray()
        self._data = bytearray()
        self._sql = ""
        self._has_started = False
        self._prepared: dict[bytes, str] = {}

    def feed(self, data: bytes) -> Iterator[Request]:
        self._rest += data
        while True:
            if not self._has_started:
                if (start := self._start()) is None:
                    return
                yield start
                continue
            if (message := next_message(self._rest)) is None:
                return
            if (request := self._read(message)) is not None:
                yield request

    def _start(self) -> Request | None:
        if len(self._rest) < 8:
            return None
        size, code = struct.unpack("!II", self._rest[:8])
        if len(self._rest) < size:
            return None
        body = bytes(self._rest[8:size])
        del self._rest[:size]
        if code == _CANCEL:
            return Request("cancel", struct.pack("!II", size, code) + body, "")
        self._has_started = True
        named = body[:-1] + b"application_name\0" + self._application + b"\0\0"
        return Request("start", struct.pack("!II", len(named) + 8, code) + named, "")

    def _read(self, message: Message) -> Request | None:
        self._data += message.raw
        match message.kind:
            case b"Q":
                self._sql = _text(message.body)
                return self._complete("statement")
            case b"P":
                name, _, rest = message.body.partition(b"\0")
                self._prepared[name] = self._sql = _text(rest)
            case b"B":
                self._sql = self._prepared.get(message.body.split(b"\0", 2)[1], "")
            case b"H":
                return self._complete("flush")
            case b"S" | b"c" | b"f":
                return self._complete("statement")
            case b"X":
                return self._complete("terminate")
            case _:
                pass
        return None

    def _complete(self, kind: str) -> Request:
        if kind == "statement" and not self._sql:
            kind = "rest"
        request = Request(kind, bytes(self._data), self._sql)
        self._data.clear()
        self._sql = ""
        return request


def next_message(buffer: bytearray) -> Message | None:
    """Take the next message out of the buffer, if it is complete."""
    if len(buffer) < 5:
        return None
    size = int.from_bytes(buffer[1:5])
    if len(buffer) < size + 1:
        return None
    message = Message(bytes(buffer[:1]), bytes(buffer[5 : size + 1]))
    del buffer[: size + 1]
    return message


class Line:
    """The socket of a session: whole messages of the server."""

    def __init__(self, address: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(address))
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._buffer = bytearray()
        self.is_over = False

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError:
            self.is_over = True

    def read(self, seconds: float) -> list[Message]:
        """Return the messages that are there, or that come first within these real seconds."""
        found: list[Message] = []
        while not self.is_over and self._poll.poll(0 if found else seconds * 1000):
            try:
                data = self._socket.recv(_CHUNK)
            except OSError:
                data = b""
            if not data:
                self.is_over = True
            self._buffer += data
            while (message := next_message(self._buffer)) is not None:
                found.append(message)
        return found

    def close(self) -> None:
        self._socket.close()


class PlainConnection:
    """Blocks the simulation: for what no process of it does, such as asking who waits for a lock."""

    def __init__(self, address: Path, user: str, database: str, application: str = "simulation") -> None:
        self._line = Line(address)
        names = {"user": user, "database": database, "application_name": application}
        body = b"".join(name.encode() + b"\0" + value.encode() + b"\0" for name, value in names.items()) + b"\0"
        self._line.send(struct.pack("!II", len(body) + 8, _PROTOCOL) + body)
        self._answer()

    def close(self) -> None:
        self._line.close()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run statements without parameters; return the rows of the last one: integers, booleans and texts."""
        self._line.send(Message(b"Q", sql.encode() + b"\0").raw)
        types: list[int] = []
        rows: list[tuple[Any, ...]] = []
        for message in self._answer():
            if message.kind == b"T":
                types, rows = _types(message.body), []
            elif message.kind == b"D":
                rows.append(tuple(_values(message.body, types)))
        return rows

    def _answer(self) -> list[Message]:
        messages: list[Message] = []
        while not messages or messages[-1].kind != b"Z":
            messages += self._line.read(60.0)
            if errors := [each for each in messages if each.kind == b"E"]:
                raise RuntimeError(errors[0].body.decode(errors="replace").replace("\0", " "))
            if self._line.is_over:
                raise RuntimeError("the server closed the simulation's own connection")
        return messages


def literal(value: object) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def _types(body: bytes) -> list[int]:
    types, at = [], 2
    for _ in range(int.from_bytes(body[:2])):
        at = body.index(b"\0", at) + 1
        types.append(int.from_bytes(body[at + 6 : at + 10]))
        at += 18
    return types


def _values(body: bytes, types: list[int]) -> Iterator[Any]:
    at = 2
    for kind in types:
        size = int.from_bytes(body[at : at + 4], signed=True)
        at += 4
        if size < 0:
            yield None
            continue
        text = body[at : at + size].decode()
        at += size
        yield int(text) if kind in _INTEGERS else text == "t" if kind == _BOOLEAN else text


def _text(body: bytes) -> str:
    return body.split(b"\0", 1)[0].decode(errors="replace")
