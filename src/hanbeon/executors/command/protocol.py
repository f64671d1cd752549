"""The line protocol: each message of a command to the engine is a line with one JSON object of one key.

Output is read as it comes, in pieces small enough not to block the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from typing import Any

import msgspec

from hanbeon.clock import MICROS
from hanbeon.domain.job import LONGEST_US, NAME_LIMIT
from hanbeon.domain.outcome import Outcome, PutOff, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.errors import HanbeonError, InvalidInput
from hanbeon.executors.executor import MESSAGE_LIMIT
from hanbeon.logs import get_logger
from hanbeon.tasks.context import AttemptBackend

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
    """One message; exactly one of the fields is set."""

    progress: Any = _NOTHING
    result: Any = _NOTHING
    failed: str | FailureMessage | msgspec.UnsetType = msgspec.UNSET
    retry_in: float | RetryMessage | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(ProtocolMessage).decode


class ProtocolReader:
    """Collects the messages of a command. The last result, failure or retry stands; the first invalid line is kept."""

    def __init__(self, max_line_bytes: int, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._lines = LineSplitter(max_line_bytes, self._take)
        self.result: Any = None
        self.ending: Outcome | None = None
        self.error: str | None = None

    def feed(self, data: bytes) -> None:
        """Take bytes from the protocol's descriptor."""
        self._lines.feed(data)

    def end(self) -> None:
        """Take the end of the stream; the last line needs no newline."""
        self._lines.end()

    def take(self, line: bytes) -> None:
        try:
            message = _decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            return self._reject(line, str(error))
        values = [getattr(message, name) for name in ProtocolMessage.__struct_fields__]
        if sum(value not in (_NOTHING, msgspec.UNSET) for value in values) != 1:
            return self._reject(line, "must have exactly one of progress, result, failed and retry_in")
        return self._apply(message, line)

    def _take(self, line: bytes, complete: bool) -> None:
        if not complete:
            self._reject(line, "must not be longer than a result may be")
        elif line.strip():
            self.take(line)

    def _apply(self, message: ProtocolMessage, line: bytes) -> None:
        if message.progress is not _NOTHING:
            self._progress(message.progress)
        elif message.result is not _NOTHING:
            self.result, self.ending = message.result, None
        elif message.failed is not msgspec.UNSET:
            failed = FailureMessage(message.failed) if isinstance(message.failed, str) else message.failed
            kind = failed.type[:NAME_LIMIT] or FailureType.ERROR
            self.ending = Raised(failed.message[:MESSAGE_LIMIT], kind, failed.permanent)
        elif message.retry_in is not msgspec.UNSET:
            later = message.retry_in if isinstance(message.retry_in, RetryMessage) else RetryMessage(message.retry_in)
            if not 0 <= later.seconds * MICROS <= LONGEST_US:
                return self._reject(line, "retry_in must be from 0 seconds to a hundred years")
            self.ending = PutOff(round(later.seconds * MICROS), later.message[:MESSAGE_LIMIT])
        return None

    def _reject(self, line: bytes, why: str) -> None:
        shown = line[:_SHOWN].decode(errors="replace")
        self.error = self.error or f"invalid protocol message: {why} (in {shown!r})"


class LineSplitter:
    """Splits a stream into lines. One over the limit is passed on once, cut, and the rest of it is dropped."""

    def __init__(self, limit: int, received: Callable[[bytes, bool], None]) -> None:
        self._limit, self._received = limit, received
        self._rest = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> None:
        *complete, rest = data.split(b"\n")
        for line in complete:
            self._rest += line[: self._limit + 1]
            self._emit()
        self._rest += rest[: self._limit + 1]
        if len(self._rest) > self._limit:
            self._emit(dropping=True)

    def end(self) -> None:
        if self._rest:
            self._emit()

    def _emit(self, *, dropping: bool = False) -> None:
        line, was_dropping = bytes(self._rest), self._dropping
        self._rest.clear()
        self._dropping = dropping
        if not was_dropping:
            self._received(line[: self._limit], not dropping and len(line) <= self._limit)


class ProtocolFilter:
    """Takes the messages out of a stdout that carries both; the rest passes unchanged."""

    def __init__(self, limit: int, message: Callable[[bytes], None], passed: Callable[[bytes], None]) -> None:
        self._limit, self._message, self._passed = limit, message, passed
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
                self._message(line[len(PREFIX) :])
            self._inside = False
        if not self._inside and _may_be_message(last) and len(last) <= self._limit:
            self._rest = last
        elif last:
            passing += last
            self._inside = True
        if passing:
            self._passed(bytes(passing))

    def end(self) -> None:
        if self._rest.startswith(PREFIX):
            self._message(self._rest[len(PREFIX) :])
        elif self._rest:
            self._passed(self._rest)
        self._rest = b""


def _may_be_message(start: bytes) -> bool:
    """Return True if a line that begins like this may still be a message."""
    return bool(start) and (start.startswith(PREFIX) or PREFIX.startswith(start))


_CHUNK = 65_536


class Pipe:
    """`theirs` is for the command; the supervisor client closes it here. `received` is called with each piece."""

    def __init__(self, received: Callable[[bytes], None]) -> None:
        self._received = received
        self._ours, self.theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._ours, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._ours, self._read)
        self._is_open = True

    def read_rest(self) -> None:
        """Read what is left, when no writer is left."""
        while self._is_open and self._read():
            pass
        self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._ours)
            os.close(self._ours)

    def _read(self) -> bool:
        """Read once; return True if there may be more."""
        try:
            data = os.read(self._ours, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return False
        if data:
            self._received(data)
        else:
            self.close()
        return bool(data)


_log = get_logger("hanbeon.tasks")
_EVERY_SECONDS = 0.25
_END_SECONDS = 5.0


class ProgressWriter:
    def __init__(self, backend: AttemptBackend) -> None:
        self._backend = backend
        self._latest: Any = _NOTHING
        self._writing: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self.error: str | None = None

    def put(self, value: Any) -> None:
        self._latest = value
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    def finish(self, then: Callable[[], None]) -> None:
        """Call `then` when the last of it is written, or cannot be."""
        if self._writing is None:
            return then()
        self._ending.set()
        timeout = asyncio.get_running_loop().call_later(_END_SECONDS, self._writing.cancel)

        def ended(_: asyncio.Task[None]) -> None:
            timeout.cancel()
            then()

        return self._writing.add_done_callback(ended)

    async def _write(self) -> None:
        while self._latest is not _NOTHING:
            value, self._latest = self._latest, _NOTHING
            try:
                await self._backend.write_progress(value)
            except InvalidInput as error:
                self.error = str(error)
            except HanbeonError as error:
                # The lease is lost, or the database is down: the engine finds out by itself.
                _log.info("progress_not_written", job=self._backend.job.id, error=str(error))
            except Exception as error:
                _log.exception("progress_failed", job=self._backend.job.id)
                self.error = f"progress: {type(error).__name__}"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EVERY_SECONDS):
                    await self._ending.wait()
        self._writing = None
