"""What attempts print, as it is kept and as it is read back."""

from __future__ import annotations

import enum
import re
import reprlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.errors import InvalidInput

_PLACE = re.compile(r"(\d{1,18}):(\d{1,18})", re.ASCII)
_LAST_ATTEMPT = 2**63 - 1
PAGE_LINES = 10_000


class LogStream(enum.StrEnum):
    """Who said it."""

    STDOUT = "stdout"
    STDERR = "stderr"
    TASK = "task"
    """What a task says with `ctx.log`."""
    ENGINE = "engine"
    """What the engine adds about the work."""


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line, numbered from 1 within its attempt; `at` is microseconds since 1970 UTC."""

    attempt: int
    line: int
    at: int
    stream: LogStream
    text: str
    unended: bool = False
    """No line end followed: a piece of a line too long to be kept as one, or the last words of its stream."""


class LogCut(msgspec.Struct, frozen=True, kw_only=True):
    """Lines that are not kept: `lines` of them, from number `line` on."""

    attempt: int
    line: int
    lines: int


LogEntry = LogLine | LogCut


class LogPlace(NamedTuple):
    """Where a reader stands: behind this line of this attempt."""

    attempt: int = 0
    line: int = 0

    @classmethod
    def parse(cls, text: Any) -> LogPlace:
        found = _PLACE.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise InvalidInput(
                f"{reprlib.repr(text)} is no place in a log; pass on the `after` of a page", field="after"
            )
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.attempt}:{self.line}"


def check_log_range(attempt: Any, limit: Any) -> None:
    if attempt is not None and not _is_whole(attempt, _LAST_ATTEMPT):
        raise InvalidInput(f"{reprlib.repr(attempt)} is no attempt; they are numbered from 1", field="attempt")
    if not _is_whole(limit, PAGE_LINES):
        raise InvalidInput(f"{reprlib.repr(limit)} does not fit; use a whole number, 1 to {PAGE_LINES}", field="limit")


def _is_whole(value: Any, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= high


class LogPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a log. Go on with its `after`, at once if there is `more`, or later, when more was printed."""

    entries: tuple[LogEntry, ...]
    after: str
    more: bool


class LogChunk(msgspec.Struct, frozen=True):
    """A row of the log: whole lines in the order of their arrival, as JSON blocks [at, stream, text].

    The text of a block ends with a line end, or else it is one line without one.
    """

    attempt: int
    first_line: int
    lines: int
    body: str


_blocks = msgspec.json.Decoder(list[tuple[int, LogStream, str]])


def read_page(chunks: Sequence[LogChunk], place: LogPlace, limit: int) -> tuple[list[LogEntry], LogPlace, bool]:
    """Up to `limit` lines behind `place`, where that ends, and whether there are more in these chunks.

    What was cut shows as a gap between the numbers, also where it was cut only after the reader had come there.
    """
    entries: list[LogEntry] = []
    found = 0
    for chunk in chunks:
        if chunk.attempt != place.attempt:
            place = LogPlace(chunk.attempt)
        for line in _lines(chunk, place.line):
            if found == limit:
                return entries, place, True
            missing = line.line - place.line - 1
            if missing:
                entries.append(LogCut(attempt=chunk.attempt, line=place.line + 1, lines=missing))
            entries.append(line)
            found += 1
            place = LogPlace(chunk.attempt, line.line)
    return entries, place, False


def _lines(chunk: LogChunk, after: int) -> Iterator[LogLine]:
    number = chunk.first_line
    for at, stream, text in _blocks.decode(chunk.body):
        unended = not text.endswith("\n")
        lines = [text] if unended else text.split("\n")[:-1]
        for place, line in enumerate(lines, number):
            if place > after:
                said = line.removesuffix("\r")
                yield LogLine(attempt=chunk.attempt, line=place, at=at, stream=stream, text=said, unended=unended)
        number += len(lines)
