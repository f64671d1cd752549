"""The context of a body in a worker process: what it asks goes to the engine, and the answer is waited for."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

from hanbeon import errors
from hanbeon.domain.job import Claimed, check_size
from hanbeon.errors import HanbeonError, LeaseLost, PayloadTooLarge
from hanbeon.executors.guardian.wire import read_frame
from hanbeon.executors.process.messages import Answer, Child, FromWorker, Progress, encode, for_worker, limit
from hanbeon.tasks.context import SyncContext, transaction_unsupported
from hanbeon.tasks.request import JobRequest
from hanbeon.tasks.signature import to_json_text
from hanbeon.tasks.task import PROCESS

_ERRORS = {
    each.code: each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, HanbeonError)
}


class Line:
    """The connection to the engine, from any thread of the body."""

    def __init__(self, connection: socket.socket, zone: ZoneInfo, max_payload_bytes: int) -> None:
        self._connection, self.zone, self.max_payload_bytes = connection, zone, max_payload_bytes
        self._lock = threading.Lock()
        self.stopping = False

    def say(self, message: FromWorker) -> None:
        """Not between a question of another thread and its answer."""
        with self._lock:
            self._connection.sendall(encode(message))

    def ask(self, message: FromWorker) -> Answer:
        data = encode(message)
        if len(data) > limit(self.max_payload_bytes):
            raise PayloadTooLarge(f"{len(data):,} bytes are too much at once; pass a reference to the data instead")
        with self._lock:
            self._connection.sendall(data)
            frame = read_frame(self._connection, limit(self.max_payload_bytes))
        if frame is None:
            os._exit(1)  # The engine is gone, and its guardian is about to end this process too.
        answer = for_worker(frame)
        assert isinstance(answer, Answer)
        return answer


class Remote:
    """Stands behind the context in a worker process."""

    def __init__(self, job: Claimed, line: Line) -> None:
        self.job, self.line = job, line
        self.is_over = False

    @property
    def stopping(self) -> bool:
        return self.line.stopping

    def ask(self, message: FromWorker) -> None:
        """Raises what the engine answers; a thread that outlives its body writes nothing any more."""
        if self.is_over:
            raise LeaseLost(self.job.id, self.job.fence)
        answer = self.line.ask(message)
        if answer.code is not None:
            _raise(answer, self.job)


class ProcessContext(SyncContext):
    """A SyncContext far from the engine."""

    def __init__(self, remote: Remote) -> None:
        self._desk = remote  # type: ignore[assignment]
        self._remote = remote

    def progress(self, value: Any) -> None:
        text = to_json_text(value, "progress", "progress")
        check_size("progress", text, self._remote.line.max_payload_bytes)
        self._remote.ask(Progress(text))

    def transaction(self) -> NoReturn:
        raise transaction_unsupported(PROCESS)

    def enqueue(self, request: JobRequest[Any]) -> str:
        child = request.to_new_job(self._remote.line.zone)
        child.validate(self._remote.line.max_payload_bytes)
        self._remote.ask(Child(child))
        return child.id


def _raise(answer: Answer, job: Claimed) -> NoReturn:
    kind = _ERRORS.get(answer.code or "", HanbeonError)
    if kind is LeaseLost:
        raise LeaseLost(job.id, job.fence)
    error = kind.__new__(kind)
    with contextlib.suppress(TypeError):
        Exception.__init__(error, answer.message)
    raise error
