"""The context of a body in a worker process: what it asks goes to the engine, and the answer is waited for."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

from hanbeon import errors
from hanbeon.domain.job import Claimed, check_size
from hanbeon.errors import HanbeonError, LeaseLost, PayloadTooLarge
from hanbeon.executors.process.messages import (
    SAID_LIMIT,
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
from hanbeon.tasks.context import SyncContext, log_lines, transaction_unsupported
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.signature import to_json_text
from hanbeon.tasks.task import PROCESS

_ERRORS = {
    each.code: each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, HanbeonError)
}


class Link:
    """The connection to the engine, from any thread of the body."""

    def __init__(self, connection: socket.socket, zone: ZoneInfo, max_payload_bytes: int) -> None:
        self._connection, self.zone, self.max_payload_bytes = connection, zone, max_payload_bytes
        self._lock = threading.Lock()
        self._next = threading.Lock()
        self.stopping = False

    def say(self, message: FromWorker) -> None:
        """Not between a question of another thread and its answer."""
        with self._turn():
            self._connection.sendall(encode(message))

    def say_if(self, is_wanted: Callable[[], bool], message: FromWorker) -> None:
        """The same, unless it is too late by the time that it is its turn."""
        with self._turn():
            if is_wanted():
                self._connection.sendall(encode(message))

    def ask(self, message: FromWorker) -> Reply:
        data = encode(message)
        if len(data) > limit(self.max_payload_bytes):
            raise PayloadTooLarge(f"{len(data):,} bytes are too much at once; pass a reference to the data instead")
        with self._turn():
            self._connection.sendall(data)
            frame = read_frame(self._connection, limit(self.max_payload_bytes))
        if frame is None:
            os._exit(1)  # The engine is gone, and its guardian is about to end this process too.
        answer = for_worker(frame)
        assert isinstance(answer, Reply)
        return answer

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One after the other: whoever waits comes before one that has just been, and talks without a pause."""
        with self._next:
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()


class RemoteBackend:
    """Stands behind the context in a worker process."""

    def __init__(self, job: Claimed, line: Link) -> None:
        self.job, self.line = job, line
        self.is_over = False
        self._pid = os.getpid()

    @property
    def stopping(self) -> bool:
        return self.line.stopping

    def say(self, data: bytes) -> None:
        """Lines for the log, in parts that are no message too long. A body that says more than is read has to wait.

        What comes after the end of the body is dropped, and so is what a fork of this process says: two processes that
        share the connection would talk at the same time.
        """
        if not self._may_speak():
            return  # Without waiting for a turn: a fork may have taken along a lock that nobody there will release.
        with contextlib.suppress(OSError):  # The engine is gone, and its guardian is about to end this process too.
            for start in range(0, len(data), SAID_LIMIT):
                self.line.say_if(self._may_speak, Printed(data[start : start + SAID_LIMIT]))

    def _may_speak(self) -> bool:
        return not self.is_over and os.getpid() == self._pid

    def ask(self, message: FromWorker) -> None:
        """Raises what the engine answers; a thread that outlives its body writes nothing any more."""
        if self.is_over:
            raise LeaseLost(self.job.id, self.job.fence)
        answer = self.line.ask(message)
        if answer.code is not None:
            _raise(answer, self.job)


class ProcessContext(SyncContext):
    """A SyncContext far from the engine."""

    def __init__(self, remote: RemoteBackend) -> None:
        self._backend = remote  # type: ignore[assignment]
        self._remote = remote

    def progress(self, value: Any) -> None:
        text = to_json_text(value, "progress", "progress")
        check_size("progress", text, self._remote.line.max_payload_bytes)
        self._remote.ask(Progress(text))

    def log(self, text: str) -> None:
        self._remote.say(log_lines(text))

    def transaction(self) -> NoReturn:
        raise transaction_unsupported(PROCESS)

    def enqueue(self, request: JobRequest[Any]) -> str:
        child = request.to_new_job(self._remote.line.zone, self._remote.job.queue)
        child.validate(self._remote.line.max_payload_bytes)
        self._remote.ask(Child(child))
        return child.id


def _raise(answer: Reply, job: Claimed) -> NoReturn:
    kind = _ERRORS.get(answer.code or "", HanbeonError)
    if kind is LeaseLost:
        raise LeaseLost(job.id, job.fence)
    error = kind.__new__(kind)
    with contextlib.suppress(TypeError):
        Exception.__init__(error, answer.message)
    raise error
