"""Statements in the bytes that a client sends to PostgreSQL, so that a proxy can tell a commit from all else."""

from __future__ import annotations

import re
from typing import NamedTuple

_STARTUP_REQUESTS = {80877103: "ssl", 80877104: "gssapi", 80877102: "cancel"}
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE)
_ENDS = re.compile(r"\s*(COMMIT|END)\b", re.IGNORECASE)
_BEGINS = re.compile(r"\s*(BEGIN|START)\b", re.IGNORECASE)


class Statement(NamedTuple):
    """A statement about to be executed."""

    sql: str
    alone: bool
    """Outside a transaction: it commits by itself."""
    reading: bool
    """Inside a read-only transaction."""
    earlier: tuple[str, ...] = ()
    """The statements of its transaction that came before it."""

    @property
    def commits(self) -> bool:
        """True if its end makes writes durable."""
        if self.alone:
            return _WRITES.search(self.sql) is not None
        return not self.reading and _ENDS.match(self.sql) is not None


class StatementReader:
    """Reads what one client sends. Statements prepared by name are found again by that name."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._started = False
        self._prepared: dict[str, str] = {}
        self._inside = self._reading = False
        self._earlier: list[str] = []

    def feed(self, data: bytes) -> list[Statement]:
        """Return the statements that these bytes complete."""
        self._rest += data
        found: list[Statement] = []
        while (message := self._next()) is not None:
            kind, body = message
            if kind == b"Q":
                found += self._execute(_text(body))
            elif kind == b"P":
                name, _, rest = body.partition(b"\0")
                self._prepared[_text(name)] = _text(rest)
            elif kind == b"B":
                name = body.split(b"\0", 2)[1]
                found += self._execute(self._prepared.get(_text(name), ""))
        return found

    def _next(self) -> tuple[bytes, bytes] | None:
        head = 1 if self._started else 0
        if len(self._rest) < head + 4:
            return None
        size = int.from_bytes(self._rest[head : head + 4])
        if len(self._rest) < head + size:
            return None
        kind, body = bytes(self._rest[:head]), bytes(self._rest[head + 4 : head + size])
        del self._rest[: head + size]
        if not self._started:
            # A request for encryption is followed by the start itself.
            self._started = int.from_bytes(body[:4]) not in _STARTUP_REQUESTS
        return kind, body

    def _execute(self, sql: str) -> list[Statement]:
        if _BEGINS.match(sql):
            self._inside, self._reading = True, "READ ONLY" in sql.upper()
            self._earlier.clear()
            return [Statement(sql, False, self._reading)]
        statement = Statement(sql, not self._inside, self._reading, tuple(self._earlier))
        self._earlier.append(sql)
        if _ENDS.match(sql) or sql.upper().lstrip().startswith("ROLLBACK"):
            self._inside = self._reading = False
        return [statement]


def is_answered(data: bytes) -> bool:
    """True if these bytes of the server end with its readiness for the next statement."""
    return len(data) >= 6 and data[-6:-1] == b"Z\0\0\0\x05"


def _text(body: bytes) -> str:
    return body.split(b"\0", 1)[0].decode(errors="replace")
