"""The program of a worker process: one job after the other, each in the main thread, until the engine is gone."""

from __future__ import annotations

import contextlib
import enum
import fcntl
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.domain.outcome import Outcome, PutOff, Raised, Returned
from hanbeon.domain.retry import FailureType
from hanbeon.executors.executor import MESSAGE_LIMIT, raised, result_of
from hanbeon.executors.process.context import Link, ProcessContext, RemoteBackend
from hanbeon.executors.process.function_ref import load_function
from hanbeon.executors.process.messages import (
    CHANNEL,
    TRACEBACK_LIMIT,
    Ended,
    RunJob,
    Setup,
    Started,
    for_worker,
    limit,
)
from hanbeon.executors.supervisor.wire import SMALL, read_frame
from hanbeon.tasks import import_guard
from hanbeon.tasks.context import Context, SyncContext
from hanbeon.tasks.signature import TaskSignature

_HIGH = 200  # Out of the way of bodies that close or redirect the first few.


class Doing(enum.Enum):
    WAITING = enum.auto()
    LOADING = enum.auto()
    WORK = enum.auto()


class _Body(NamedTuple):
    function: Callable[..., Any]
    signature: TaskSignature


class Child:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], _Body] = {}
        self._line: Link | None = None
        self._doing = Doing.WAITING

    def run(self) -> None:
        """Until SIGTERM while idle, the end of a job that was told to stop, or the engine's end."""
        self._listen_to_sigterm()
        first = read_frame(self._connection, SMALL)
        if first is None:
            return
        setup = for_worker(first)
        assert isinstance(setup, Setup)
        sys.path[:], sys.argv[:] = setup.path, setup.argv
        self._line = line = Link(self._connection, ZoneInfo(setup.zone), setup.max_payload_bytes)
        while (frame := read_frame(self._connection, limit(setup.max_payload_bytes))) is not None:
            order = for_worker(frame)
            assert isinstance(order, RunJob)
            self._prepare(setup)
            ended = self._run(order, line)
            line.say(ended)
            if ended.leaving:
                return
            self._doing = Doing.WAITING

    def _prepare(self, setup: Setup) -> None:
        """What the last body may have changed is as it was."""
        self._doing = Doing.LOADING
        self._listen_to_sigterm()
        with contextlib.suppress(OSError):
            os.chdir(setup.folder)

    def _listen_to_sigterm(self) -> None:
        signal.signal(signal.SIGTERM, self._told_to_stop)

    def _told_to_stop(self, number: int, frame: FrameType | None) -> None:
        """A body may look at it. Without one there is nothing to wait for."""
        if self._line is not None:
            self._line.stopping = True
        if self._doing is Doing.WAITING:
            sys.exit(0)
        if self._doing is Doing.LOADING:
            os._exit(0)

    def _run(self, order: RunJob, line: Link) -> Ended:
        remote = RemoteBackend(order.job, line)
        known = (order.module, order.function) in self._known
        try:
            body = self._load(order)
        except BaseException as error:
            where = f"{order.module}.{order.function}"
            message = f"a worker process cannot load {where}: {_text(type(error).__name__)}: {_text(str(error))}"
            # Half of a module may be loaded; the next try begins anew.
            return self._ended(Raised(message[:MESSAGE_LIMIT], FailureType.SESSION_ERROR), error, leaving=True)
        context = [ProcessContext(remote)] if body.signature.context_type else []
        self._doing = Doing.WORK
        if not known:
            line.say(Started())
        try:
            value = body.function(*context, **body.signature.unpack(order.job.args))
            return self._ended(result_of(order.job.task, value, order.max_result_bytes))
        except BaseException as error:
            return self._ended(_raised(error), error)
        finally:
            remote.is_over = True

    def _load(self, order: RunJob) -> _Body:
        known = self._known.get((order.module, order.function))
        if known is None:
            with import_guard.in_worker_process():
                function = load_function(order.module, order.function, order.main)
            known = _Body(function, TaskSignature(order.job.task, function, (Context, SyncContext)))
            self._known[order.module, order.function] = known
        return known

    def _ended(self, outcome: Outcome, error: BaseException | None = None, *, leaving: bool = False) -> Ended:
        assert self._line is not None
        assert isinstance(outcome, Returned | Raised | PutOff)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # The body may have closed or replaced them.
                stream.flush()
        told = _traceback(error) if error is not None and isinstance(outcome, Raised) else None
        # Who knows what is broken in a process that ran out of memory.
        leaving = leaving or self._line.stopping or isinstance(error, MemoryError)
        return Ended(_sendable(outcome), told, leaving, alone=_is_alone())


def _raised(error: BaseException) -> Outcome:
    outcome = raised(error)
    if isinstance(error, MemoryError) and isinstance(outcome, Raised):
        return Raised(outcome.message, FailureType.SESSION_ERROR)
    return outcome


def _traceback(error: BaseException) -> str:
    try:
        return _text("".join(traceback.format_exception(error)))[-TRACEBACK_LIMIT:]
    except Exception as failure:
        return f"its traceback cannot be shown: {type(failure).__name__}"


def _sendable(outcome: Returned | Raised | PutOff) -> Returned | Raised | PutOff:
    match outcome:
        case Raised(message, failure_type):
            return msgspec.structs.replace(outcome, message=_text(message), failure_type=_text(failure_type))
        case PutOff(delay_us, message):
            return PutOff(delay_us, _text(message)[:MESSAGE_LIMIT])
        case Returned():
            return outcome


def _text(text: str) -> str:
    """Without halves of surrogate pairs, which no message carries."""
    return text.encode(errors="replace").decode()


def _is_alone() -> bool:
    """Whether nothing that the body started is left; if that cannot be told here, the keeper is asked.

    In this order: what loses its parent between the two looks has become the keeper's child by the second. What has
    ended and was not waited for is waited for.
    """
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        keeper = os.getppid()
        with contextlib.suppress(Exception), open(f"/proc/{keeper}/task/{keeper}/children", "rb") as file:
            return file.read().split() == [str(os.getpid()).encode()]
    return False


def main() -> None:
    descriptor = fcntl.fcntl(CHANNEL, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(CHANNEL)
    Child(socket.socket(fileno=descriptor)).run()
