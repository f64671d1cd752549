"""Replay files: checked while they arrive, and read line by line. Neither keeps more than a line in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from hanbeon.surfaces.exports.rendering.replay_format import LINE_BYTES, Header, LineReader, Record

_READ_BYTES = 1 << 18


class ReplayFacts(NamedTuple):
    """Facts of a replay, known once all of it was checked."""

    title: str
    duration_ms: int
    lines: int


class ReplayCheck:
    """Checks a replay that arrives in parts: `feed` each, then `finish`."""

    def __init__(self) -> None:
        self._lines = LineReader()
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Check the lines that are complete. Raises ReplayInvalid, with the line and field."""
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
            self._rest = b""
            for line in lines:
                self._lines.read(line)
        self._rest += rest
        if len(self._rest) > LINE_BYTES:
            self._lines.read(self._rest)  # Says what is wrong with it, before more of it is kept.

    def finish(self) -> ReplayFacts:
        """Return the facts, after the last part."""
        if self._rest:
            self._lines.read(self._rest)
            self._rest = b""
        duration = self._lines.finish()
        assert self._lines.header is not None
        return ReplayFacts(self._lines.header.title, duration, self._lines.line)


def check_file(path: Path, look: Callable[[], None] = lambda: None) -> ReplayFacts:
    """Check a whole file; `look` is called for each part of it."""
    check = ReplayCheck()
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            check.feed(data)
            look()
    return check.finish()


class ReplayFile:
    """An open replay: its header, and its records in order, as they are iterated over."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._reader = LineReader()
        try:
            self._reader.read(self._line().removesuffix(b"\n"))
        except BaseException:
            self.close()
            raise
        assert self._reader.header is not None
        self.header: Header = self._reader.header

    def __enter__(self) -> ReplayFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Record]:
        while line := self._line():
            record = self._reader.read(line.removesuffix(b"\n"))
            assert record is not None
            yield record
        self._reader.finish()

    def close(self) -> None:
        self._file.close()

    def _line(self) -> bytes:
        return self._file.readline(LINE_BYTES + 2)
