"""The parts of a log, from printed bytes to database rows."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import msgspec

from hanbeon.domain.log import LogStream

_MERGE_WITHIN_US = 1_000  # Output of one stream within a millisecond is one block.
_FRAME = len('[1700000000000000,"task",""]')
_CONTINUES = 0b10  # The leading bits of a UTF-8 continuation byte.


class NewChunk(NamedTuple):
    """A row to write; it replaces the row with the same number, if there is one."""

    n: int
    first_line: int
    lines: int
    body: str


class RawQueue:
    """Unwritten output in order, with adjacent output merged."""

    __slots__ = ("_piece", "_raws", "_size")

    def __init__(self, piece: int) -> None:
        self._piece, self._size = piece, 0
        self._raws: deque[Raw] = deque()

    def __bool__(self) -> bool:
        return bool(self._raws)

    def put(self, raw: Raw, room: int | None = None) -> bool:
        """Append the output; False if there is no room for it."""
        last = self._raws[-1] if self._raws and self._raws[-1].takes(raw, self._piece) else None
        size = raw.size if last is None else raw.size - _FRAME
        if room is not None and self._size + size > room:
            return False
        self._size += size
        if last is None:
            self._raws.append(raw)
        else:
            last.join(raw)
        return True

    def shrink(self, room: int) -> None:
        """Drop the oldest output until the rest fits."""
        while self._size > room:
            self._size -= self._raws.popleft().size

    def take(self) -> list[Raw]:
        raws, self._size = list(self._raws), 0
        self._raws.clear()
        return raws


class Raw:
    """Whole lines of one stream, or one line without a line end, as they were printed."""

    __slots__ = ("at", "line", "lines", "parts", "size", "stream")

    def __init__(self, line: int, lines: int, at: int, stream: LogStream, data: bytes) -> None:
        self.line, self.lines, self.at, self.stream = line, lines, at, stream
        self.parts = [data]
        self.size = len(data) + _FRAME

    def takes(self, other: Raw, piece: int) -> bool:
        """True if `other`, which follows directly, can be merged: same stream, close in time, and short enough."""
        return (
            other.stream is self.stream
            and other.at - self.at < _MERGE_WITHIN_US
            and self.size + other.size <= piece
            and self.parts[-1].endswith(b"\n")
            and other.parts[0].endswith(b"\n")
        )

    def join(self, other: Raw) -> None:
        self.parts += other.parts
        self.lines += other.lines
        self.size += other.size - _FRAME

    def encoded(self) -> Block:
        # PostgreSQL stores no NUL.
        text = b"".join(self.parts).decode(errors="replace").replace("\x00", "\ufffd")
        return Block(self.line, self.lines, msgspec.json.encode((self.at, self.stream, text)))


class Block(NamedTuple):
    line: int
    lines: int
    data: bytes

    @property
    def size(self) -> int:
        """The bytes that it adds to a body, brackets and commas included."""
        return len(self.data) + 2


class Chunk:
    __slots__ = ("_blocks", "_first_line", "n", "next_line", "size")

    def __init__(self, n: int, block: Block) -> None:
        self.n, self._first_line = n, block.line
        self.next_line = block.line
        self.size = 0
        self._blocks: list[bytes] = []
        self.add(block)

    def add(self, block: Block) -> None:
        self._blocks.append(block.data)
        self.next_line += block.lines
        self.size += block.size

    def forget(self) -> None:
        """Drop the content once it is stored and will not be written again; only its size still counts."""
        self._blocks.clear()

    def row(self) -> NewChunk:
        body = b"[" + b",".join(self._blocks) + b"]"
        return NewChunk(self.n, self._first_line, self.next_line - self._first_line, body.decode())


def between_characters(data: bytes, end: int) -> int:
    """Return the last position up to `end` that does not split a character."""
    for place in range(end, end - 4, -1):
        if data[place] >> 6 != _CONTINUES:
            return place
    return end
