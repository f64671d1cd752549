"""The program of a worker process: runs one job after the other in its main thread, until the engine is gone."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.domain.retry import ExceptionFilter, FailureType
from hanbeon.errors import SoftTimeout
from hanbeon.executors.executor import MESSAGE_LIMIT, NOT_KEPT, failed, result_of
from hanbeon.executors.output import OutputCapture
from hanbeon.executors.process.context import Link, ProcessContext, RemoteBackend, StopSignal
from hanbeon.executors.process.messages import (
    CHANNEL,
    Ended,
    RunJob,
    Setup,
    Started,
    for_worker,
    limit,
    load_function,
)
from hanbeon.executors.supervisor.wire import SMALL, read_frame
from hanbeon.executors.traceback_text import exception_text
from hanbeon.tasks import import_guard
from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.signature import TaskSignature

_HIGH = 200  # Out of the way of bodies that close or redirect the first few.


class _Body(NamedTuple):
    function: Callable[..., Any]
    signature: TaskSignature


class Child:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], _Body] = {}
        self._stop_signal = StopSignal()
        self._remote: RemoteBackend | None = None
        """The backend of the body that runs."""

    def run(self) -> None:
        """Run until SIGTERM while idle, the end of a job that was stopped, or the engine's end."""
        first = read_frame(self._connection, SMALL)
        if first is None:
            return
        setup = for_worker(first)
        assert isinstance(setup, Setup)
        sys.path[:], sys.argv[:] = setup.path, setup.argv
        if setup.capture:
            OutputCapture(lambda: self._remote).install()
        link = Link(self._connection, setup.zone, setup.max_payload_bytes, self._stop_signal)
        while (frame := read_frame(self._connection, limit(setup.max_payload_bytes))) is not None:
            request = for_worker(frame)
            assert isinstance(request, RunJob)
            self._prepare(setup)
            ended = self._run(request, link)
            link.send(ended)
            if ended.leaving or not self._stop_signal.wait():
                return

    def _prepare(self, setup: Setup) -> None:
        """Reset what the last body may have changed."""
        self._stop_signal.begin()
        with contextlib.suppress(OSError):
            os.chdir(setup.folder)

    def _run(self, request: RunJob, link: Link) -> Ended:
        remote = RemoteBackend(request.job, link)
        known = (request.module, request.function) in self._known
        try:
            body = self._load(request)
        except BaseException as error:
            self._stop_signal.report()
            where = f"{request.module}.{request.function}"
            message = f"a worker process cannot load {where}: {_text(type(error).__name__)}: {_text(str(error))}"
            # Half of a module may be loaded; the next attempt needs a new process.
            failure = Raised(message[:MESSAGE_LIMIT], FailureType.SESSION_ERROR, exception=exception_text(error))
            return self._ended(failure, leaving=True)
        context = [ProcessContext(remote)] if body.signature.context_type else []
        if not known and (reply := link.request(Started())).code is not None:
            # Nothing of it may run any more, and nothing has.
            self._stop_signal.report()
            return self._ended(Raised(reply.message, FailureType.SESSION_ERROR), leaving=True)
        if not known:
            self._stop_signal.begin()  # A handler of its module would be there for the first job only.
        self._remote = remote
        try:
            try:
                with _continuing(request.trace), _softly_timed(request.soft_timeout, remote):
                    value = body.function(*context, **body.signature.unpack(request.job.args))
            finally:
                self._stop_signal.report()
            if not request.keep_result:
                return self._ended(NOT_KEPT)
            return self._ended(result_of(request.job.task, value, request.max_result_bytes))
        except BaseException as error:
            # A process that ran out of memory may be broken in any way.
            return self._ended(_failed(error, request.retried), leaving=isinstance(error, MemoryError))
        finally:
            self._remote = None
            remote.is_over = True

    def _load(self, request: RunJob) -> _Body:
        known = self._known.get((request.module, request.function))
        if known is None:
            with import_guard.in_worker_process():
                function = load_function(request.module, request.function, request.main)
            known = _Body(function, TaskSignature(request.job.task, function, (Context, SyncContext)))
            self._known[request.module, request.function] = known
        return known

    def _ended(self, outcome: Outcome, *, leaving: bool = False) -> Ended:
        assert isinstance(outcome, Returned | Raised | PutOff)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # The body may have closed or replaced them.
                stream.flush()
        return Ended(_sendable(outcome), leaving or self._stop_signal.received, alone=_is_alone())


@contextlib.contextmanager
def _softly_timed(seconds: float | None, remote: RemoteBackend) -> Iterator[None]:
    """Raise SoftTimeout in the body after so long, in this thread: the main one, which handles signals."""
    if seconds is None:
        yield
        return

    def pass_soft_timeout(number: int, frame: FrameType | None) -> None:
        if not remote.soft_timeout_passed:
            remote.soft_timeout_passed = True
            raise SoftTimeout(seconds)

    before = signal.signal(signal.SIGALRM, pass_soft_timeout)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        remote.soft_timeout_passed = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _continuing(trace: str | None) -> contextlib.AbstractContextManager[None]:
    if trace is None:
        return contextlib.nullcontext()
    from hanbeon.telemetry.continuation import continuing

    return continuing(trace)


def _failed(error: BaseException, retried: ExceptionFilter | None) -> Outcome:
    outcome = failed(error, retried)
    if isinstance(error, MemoryError) and isinstance(outcome, Raised):
        return msgspec.structs.replace(outcome, failure_type=FailureType.SESSION_ERROR)
    return outcome


def _sendable(outcome: Returned | Raised | PutOff) -> Returned | Raised | PutOff:
    match outcome:
        case Raised(message, failure_type):
            return msgspec.structs.replace(outcome, message=_text(message), failure_type=_text(failure_type))
        case PutOff(delay_us, message):
            return PutOff(delay_us, _text(message)[:MESSAGE_LIMIT])
        case Returned():
            return outcome


def _text(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded."""
    return text.encode(errors="replace").decode()


def _is_alone() -> bool:
    """Return True if nothing that the body started is left. If False, the session supervisor decides.

    In this order: a process that loses its parent between the two checks is the supervisor's child by the second.
    Zombies are reaped.
    """
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        supervisor = os.getppid()
        with contextlib.suppress(Exception), open(f"/proc/{supervisor}/task/{supervisor}/children", "rb") as file:
            return file.read().split() == [str(os.getpid()).encode()]
    return False


def main() -> None:
    descriptor = fcntl.fcntl(CHANNEL, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(CHANNEL)
    # Nothing flushes what a body has printed when it is ended by a signal.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    with socket.socket(fileno=descriptor) as connection:
        Child(connection).run()
