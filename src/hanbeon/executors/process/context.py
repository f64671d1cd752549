"""The context of a body in a worker process: its calls are requests to the engine, and SIGTERM ends it."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from types import FrameType
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

from hanbeon import errors
from hanbeon.domain.job import Claimed, check_size
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.log import LogStream
from hanbeon.errors import HanbeonError, LeaseLost, PayloadTooLarge
from hanbeon.executors.process.messages import (
    LOG_CHUNK,
    Child,
    FromWorker,
    Printed,
    Progress,
    Reply,
    encode,
    for_worker,
    limit,
)
from hanbeon.executors.supervisor.wire import read_frame
from hanbeon.rule import Rule
from hanbeon.tasks.context import SyncContext, log_lines, transaction_unsupported
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.task import PROCESS

_set_handler = ctypes.pythonapi.PyOS_setsig
_set_handler.argtypes, _set_handler.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
_get_handler = ctypes.pythonapi.PyOS_getsig
_get_handler.argtypes, _get_handler.restype = [ctypes.c_int], ctypes.c_void_p


class Phase(enum.Enum):
    WAITING = enum.auto()
    """No job: it ends the process."""
    JOB = enum.auto()
    """A function is loaded or runs: it ends the process, unless `notice` was called."""
    REPORT = enum.auto()
    """The body has ended: its outcome is sent first."""


class StopSignal:
    """`received` is true after a SIGTERM that has not ended the process.

    While a body runs that has not asked, the kernel's default action is in force beneath the handler that Python knows:
    handlers of Python do not run inside C, where a body may spend hours. A body that installs a handler of its own
    replaces both.
    """

    def __init__(self) -> None:
        self.received = False
        self._phase = Phase.WAITING
        self._is_noticed = False
        self._install()
        self._of_python = _get_handler(signal.SIGTERM)

    def begin(self) -> None:
        """Let it end the process at once, and drop the handlers that were installed meanwhile."""
        self._is_noticed = False
        self._install()
        self._phase = Phase.JOB
        _set_handler(signal.SIGTERM, int(signal.SIG_DFL))

    def notice(self) -> None:
        """Let it set `received` from here on instead; from any thread."""
        if self._is_noticed or self._phase is not Phase.JOB:
            return
        self._is_noticed = True
        if signal.getsignal(signal.SIGTERM) == self._handle:  # Otherwise it is the body's own.
            # Not `signal.signal`, which is for the main thread only.
            _set_handler(signal.SIGTERM, self._of_python)

    def report(self) -> None:
        """Let it wait until the outcome of the body is sent."""
        self._phase = Phase.REPORT
        self._install()

    def wait(self) -> bool:
        """Let it end the process while there is no job; return False if it came before."""
        self._phase = Phase.WAITING
        return not self.received

    def _install(self) -> None:
        signal.signal(signal.SIGTERM, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._phase is Phase.WAITING:
            sys.exit(0)
        if self._phase is Phase.JOB and not self._is_noticed:
            # It came before `begin` had an effect, or after a body has put back the handler that it had replaced.
            _set_handler(signal.SIGTERM, int(signal.SIG_DFL))
            os.kill(os.getpid(), signal.SIGTERM)
        self.received = True


class Link:
    """The connection to the engine, from any thread of the body."""

    def __init__(
        self, connection: socket.socket, zone: str | None, max_payload_bytes: int, stop_signal: StopSignal
    ) -> None:
        self._connection, self.max_payload_bytes = connection, max_payload_bytes
        self.zone_of_naive = None if zone is None else ZoneInfo(zone)
        self.stop_signal = stop_signal
        self._lock = threading.Lock()
        self._next = threading.Lock()
        self._mine = threading.local()

    def send(self, message: FromWorker) -> None:
        """Send a message, but not between a request of another thread and its reply."""
        with self._turn():
            self._connection.sendall(encode(message))

    def send_if(self, condition: Callable[[], bool], message: FromWorker) -> None:
        """Like `send`, if the condition still holds when it is its turn.

        Nothing is sent by a handler or finalizer that interrupts this thread while it has its turn, or waits for it.
        """
        if getattr(self._mine, "has_turn", False):
            return
        with self._turn():
            if condition():
                self._connection.sendall(encode(message))

    def request(self, message: FromWorker) -> Reply:
        data = encode(message)
        most = limit(self.max_payload_bytes)
        if len(data) > most:
            raise PayloadTooLarge(Rule("context_too_large", most=most, got=len(data)))
        with self._turn():
            self._connection.sendall(data)
            frame = read_frame(self._connection, most)
        if frame is None:
            os._exit(1)  # The engine is gone, and its supervisor is about to end this process too.
        reply = for_worker(frame)
        assert isinstance(reply, Reply)
        return reply

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Take turns fairly: a waiting thread comes before one that has just had its turn."""
        self._mine.has_turn = True
        try:
            with self._next:
                self._lock.acquire()
            try:
                yield
            finally:
                self._lock.release()
        finally:
            self._mine.has_turn = False


class RemoteBackend:
    """The backend of the context in a worker process."""

    def __init__(self, job: Claimed, link: Link) -> None:
        self.job, self.link = job, link
        self.is_over = False
        self.soft_timeout_passed = False
        self._pid = os.getpid()

    @property
    def stopping(self) -> bool:
        """True after a stop. A body that has looked once is given the grace to end."""
        if not self.is_over:
            self.link.stop_signal.notice()
        return self.link.stop_signal.received

    def log(self, stream: LogStream, data: bytes) -> None:
        """Send output for the log, in messages of limited size. Blocks while the engine does not keep up.

        Output after the end of the body is dropped, and so is that of a fork of this process: two processes that share
        the connection would write at the same time.
        """
        if not self._may_send():
            return  # Without waiting for a turn: a fork may have taken along a lock that nobody there will release.
        with contextlib.suppress(OSError):  # The engine is gone, and its supervisor is about to end this process too.
            for start in range(0, len(data), LOG_CHUNK):
                self.link.send_if(self._may_send, Printed(stream, data[start : start + LOG_CHUNK]))

    def printed(self, stream: str, data: bytes) -> None:
        """Copy what the body prints and logs."""
        self.log(LogStream(stream), data)

    def _may_send(self) -> bool:
        return not self.is_over and os.getpid() == self._pid

    def request(self, message: FromWorker) -> None:
        """Raise the error of the engine's reply; a thread that outlives its body can write nothing any more."""
        if self.is_over:
            raise LeaseLost(self.job.id, self.job.fence)
        reply = self.link.request(message)
        if reply.code is not None:
            _raise(reply, self.job)


class ProcessContext(SyncContext):
    """A SyncContext in another process than the engine."""

    def __init__(self, remote: RemoteBackend) -> None:
        self._backend = remote  # type: ignore[assignment]
        self._remote = remote

    def progress(self, value: Any) -> None:
        text = to_json_text(value, "progress", "progress")
        check_size("progress", text, self._remote.link.max_payload_bytes)
        self._remote.request(Progress(text))

    def log(self, text: str) -> None:
        self._remote.log(LogStream.TASK, log_lines(text))

    def transaction(self) -> NoReturn:
        raise transaction_unsupported(PROCESS)

    def enqueue(self, request: JobRequest[Any]) -> str:
        child = request.to_new_job(self._remote.link.zone_of_naive, self._remote.job.queue)
        child.validate(self._remote.link.max_payload_bytes)
        self._remote.request(Child(child))
        return child.id


def _raise(reply: Reply, job: Claimed) -> NoReturn:
    kind = _kinds().get(reply.code or "", HanbeonError)
    if kind is LeaseLost:
        raise LeaseLost(job.id, job.fence)
    error = kind.__new__(kind)
    with contextlib.suppress(TypeError):
        Exception.__init__(error, reply.message)
    raise error


@cache
def _kinds() -> dict[str, type[HanbeonError]]:
    return {each.code: each for each in errors.all_errors()}
