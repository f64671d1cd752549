"""The line protocol: each line that a command says to the engine is one JSON object with one key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from hanbeon.clock import MICROS
from hanbeon.domain.job import LONGEST_US, NAME_LIMIT
from hanbeon.domain.outcome import Outcome, PutOff, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.executors.executor import MESSAGE_LIMIT

PREFIX = b"::hanbeon "
_SHOWN = 80
_NOTHING: Any = object()


class FailureMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message: str = ""
    type: str = FailureType.ERROR
    permanent: bool = False


class RetryMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    seconds: float
    message: str = ""


class ProtocolMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be said; exactly one of these."""

    progress: Any = _NOTHING
    result: Any = _NOTHING
    failed: str | FailureMessage | msgspec.UnsetType = msgspec.UNSET
    retry_in: float | RetryMessage | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(ProtocolMessage).decode


class ProtocolReader:
    """Everything that a command has said. The last result, failure or put-off stands; a line that is none complains."""

    def __init__(self, max_line_bytes: int, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._lines = LineSplitter(max_line_bytes, self._take)
        self.result: Any = None
        self.ending: Outcome | None = None
        self.complaint: str | None = None

    def feed(self, data: bytes) -> None:
        """What came through the descriptor."""
        self._lines.feed(data)

    def end(self) -> None:
        """Nothing more will come; a last line needs no newline."""
        self._lines.end()

    def take(self, line: bytes) -> None:
        try:
            said = _decode(line)
        except msgspec.MsgspecError as error:
            return self._complain(line, str(error))
        told = [
            name for name in ProtocolMessage.__struct_fields__ if getattr(said, name) not in (_NOTHING, msgspec.UNSET)
        ]
        if len(told) != 1:
            return self._complain(line, "say one of progress, result, failed and retry_in")
        return self._act(said, line)

    def _take(self, line: bytes, complete: bool) -> None:
        if not complete:
            self._complain(line, "it is longer than a result may be")
        elif line.strip():
            self.take(line)

    def _act(self, said: ProtocolMessage, line: bytes) -> None:
        if said.progress is not _NOTHING:
            self._progress(said.progress)
        elif said.result is not _NOTHING:
            self.result, self.ending = said.result, None
        elif said.failed is not msgspec.UNSET:
            failed = FailureMessage(said.failed) if isinstance(said.failed, str) else said.failed
            kind = failed.type[:NAME_LIMIT] or FailureType.ERROR
            self.ending = Raised(failed.message[:MESSAGE_LIMIT], kind, failed.permanent)
        elif said.retry_in is not msgspec.UNSET:
            later = said.retry_in if isinstance(said.retry_in, RetryMessage) else RetryMessage(said.retry_in)
            if not 0 <= later.seconds * MICROS <= LONGEST_US:
                return self._complain(line, "retry_in is a number of seconds, at most a hundred years")
            self.ending = PutOff(round(later.seconds * MICROS), later.message[:MESSAGE_LIMIT])
        return None

    def _complain(self, line: bytes, why: str) -> None:
        shown = line[:_SHOWN].decode(errors="replace")
        self.complaint = self.complaint or f"it said something that is not understood: {why} (in {shown!r})"


class LineSplitter:
    """Puts lines together. One over the limit is told once, cut, and the rest of it is dropped."""

    def __init__(self, limit: int, heard: Callable[[bytes, bool], None]) -> None:
        self._limit, self._heard = limit, heard
        self._rest = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> None:
        *complete, rest = data.split(b"\n")
        for line in complete:
            self._rest += line[: self._limit + 1]
            self._told()
        self._rest += rest[: self._limit + 1]
        if len(self._rest) > self._limit:
            self._told(dropping=True)

    def end(self) -> None:
        if self._rest:
            self._told()

    def _told(self, *, dropping: bool = False) -> None:
        line, was_dropping = bytes(self._rest), self._dropping
        self._rest.clear()
        self._dropping = dropping
        if not was_dropping:
            self._heard(line[: self._limit], not dropping and len(line) <= self._limit)


class ProtocolFilter:
    """Takes the lines of the protocol out of a stdout that carries both; the rest passes as it came."""

    def __init__(self, limit: int, said: Callable[[bytes], None], passed: Callable[[bytes], None]) -> None:
        self._limit, self._said, self._passed = limit, said, passed
        self._rest = b""
        self._inside = False

    def feed(self, data: bytes) -> None:
        *complete, last = (self._rest + data).split(b"\n")
        self._rest = b""
        passing = bytearray()
        for line in complete:
            if self._inside or not line.startswith(PREFIX):
                passing += line + b"\n"
            else:
                self._said(line[len(PREFIX) :])
            self._inside = False
        if not self._inside and _may_be_said(last) and len(last) <= self._limit:
            self._rest = last
        elif last:
            passing += last
            self._inside = True
        if passing:
            self._passed(bytes(passing))

    def end(self) -> None:
        if self._rest.startswith(PREFIX):
            self._said(self._rest[len(PREFIX) :])
        elif self._rest:
            self._passed(self._rest)
        self._rest = b""


def _may_be_said(start: bytes) -> bool:
    """Whether a line that begins like this may still be one of the protocol."""
    return bool(start) and (start.startswith(PREFIX) or PREFIX.startswith(start))
