"""The log of a job: the output of its attempts, as stored and as read back."""

from __future__ import annotations

import enum
import re
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
    """Written by a task with `ctx.log`."""
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


def read_page(chunks: Sequence[LogChunk], place: LogPosition, limit: int) -> tuple[list[LogEntry], LogPosition, bool]:
    """Return up to `limit` lines after `place`, the new position, and True if these chunks have more.

    Cut lines appear as a gap in the numbers, even if they were cut after the reader had passed them.
    """
    entries: list[LogEntry] = []
    found = 0
    for chunk in chunks:
        if chunk.attempt != place.attempt:
            place = LogPosition(chunk.attempt)
        for line in _lines(chunk, place.line):
            if found == limit:
                return entries, place, True
            missing = line.line - place.line - 1
            if missing:
                entries.append(LogCut(attempt=chunk.attempt, line=place.line + 1, lines=missing))
            entries.append(line)
            found += 1
            place = LogPosition(chunk.attempt, line.line)
    return entries, place, False


def _lines(chunk: LogChunk, after: int) -> Iterator[LogLine]:
    number = chunk.first_line
    for at, stream, text in _blocks.decode(chunk.body):
        unended = not text.endswith("\n")
        lines = [text] if unended else text.split("\n")[:-1]
        for place, line in enumerate(lines, number):
            if place > after:
                line = line.removesuffix("\r")
                yield LogLine(attempt=chunk.attempt, line=place, at=at, stream=stream, text=line, unended=unended)
        number += len(lines)
