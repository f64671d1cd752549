"""The log of a job: the output of its attempts, as printed, as stored and as read back."""

from __future__ import annotations

import enum
import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

_PLACE = re.compile(r"(\d{1,18}):(\d{1,18})", re.ASCII)
_LAST_ATTEMPT = 2**63 - 1
PAGE_LINES = 10_000


class LogStream(enum.StrEnum):
    """The source of a log line."""

    STDOUT = "stdout"
    STDERR = "stderr"
    TASK = "task"
    """Written by a task with `ctx.log`, or with Python's `logging`."""
    ENGINE = "engine"
    """Added by the engine."""


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line, numbered from 1 within its attempt; `at` is microseconds since 1970 UTC."""

    attempt: int
    line: int
    at: int
    stream: LogStream
    text: str
    unended: bool = False
    """No line end followed: a piece of a line too long to be stored as one, or the last output of its stream."""


class LogCut(msgspec.Struct, frozen=True, kw_only=True):
    """A gap: `lines` lines from number `line` on were not kept."""

    attempt: int
    line: int
    lines: int


LogEntry = LogLine | LogCut


class LogPosition(NamedTuple):
    """A reader's position: after this line of this attempt."""

    attempt: int = 0
    line: int = 0

    @classmethod
    def parse(cls, text: Any) -> LogPosition:
        found = _PLACE.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise InvalidInput(Rule("must_be", what=Rule("previous_after"), got=quoted(text)), field="after")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.attempt}:{self.line}"


def check_log_range(attempt: Any, limit: Any) -> None:
    if attempt is not None and not _is_whole(attempt, _LAST_ATTEMPT):
        raise InvalidInput(Rule("must_be", what=Rule("attempt_number"), got=quoted(attempt)), field="attempt")
    if not _is_whole(limit, PAGE_LINES):
        raise InvalidInput(
            Rule("must_be", what=Rule("integer_from_to", low=1, high=PAGE_LINES), got=quoted(limit)), field="limit"
        )


def _is_whole(value: Any, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= high


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a log. Continue with its `after`: immediately if there is `more`, or later for new output."""

    entries: tuple[LogEntry, ...]
    after: str
    more: bool


class LogChunk(msgspec.Struct, frozen=True):
    """A row of the log: whole lines in order of arrival, as JSON blocks [at, stream, text].

    The text of a block ends with a line end, or is a single line without one.
    """

    attempt: int
    first_line: int
    lines: int
    body: str


_blocks = msgspec.json.Decoder(list[tuple[int, LogStream, str]])


def read_page(
    chunks: Sequence[LogChunk], position: LogPosition, limit: int
) -> tuple[list[LogEntry], LogPosition, bool]:
    """Return up to `limit` lines after `position`, the new position, and True if these chunks have more.

    Cut lines appear as a gap in the numbers, even if they were cut after the reader had passed them.
    """
    entries: list[LogEntry] = []
    found = 0
    for chunk in chunks:
        if chunk.attempt != position.attempt:
            position = LogPosition(chunk.attempt)
        for line in _lines(chunk, position.line):
            if found == limit:
                return entries, position, True
            missing = line.line - position.line - 1
            if missing:
                entries.append(LogCut(attempt=chunk.attempt, line=position.line + 1, lines=missing))
            entries.append(line)
            found += 1
            position = LogPosition(chunk.attempt, line.line)
    return entries, position, False


def _lines(chunk: LogChunk, after: int) -> Iterator[LogLine]:
    number = chunk.first_line
    for at, stream, text in _blocks.decode(chunk.body):
        unended = not text.endswith("\n")
        lines = [text] if unended else text.split("\n")[:-1]
        for position, line in enumerate(lines, number):
            if position > after:
                line = line.removesuffix("\r")
                yield LogLine(attempt=chunk.attempt, line=position, at=at, stream=stream, text=line, unended=unended)
        number += len(lines)


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
    for position in range(end, end - 4, -1):
        if data[position] >> 6 != _CONTINUES:
            return position
    return end
