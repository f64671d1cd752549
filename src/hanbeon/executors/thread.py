"""Bodies that are plain functions, run in threads of the engine's process."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome, Raised
from hanbeon.domain.retry import FailureType
from hanbeon.executors.containment import contain_exits
from hanbeon.executors.executor import Call, Done, StopCause, failed, report, returned
from hanbeon.guarded_task import BodyExits, enter_body
from hanbeon.tasks.context import SyncContext
from hanbeon.tasks.task import THREAD


class ThreadExecutor:
    """Cannot kill: a stop sets `ctx.stopping`, and a body that ignores it keeps its slot until it returns."""

    name = THREAD
    offers_transactions = True
    start_seconds = 0.0
    stop_seconds = 0.0

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="hanbeon-task")

    def start(self, call: Call, done: Done) -> ThreadWork:
        contain_exits(asyncio.get_running_loop())
        return ThreadWork(call, self._pool, done)

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class _ThreadBody(BodyExits):
    """A body in a thread, as its context knows it."""

    def __init__(self, call: Call) -> None:
        self.call: Call | None = call

    def printed(self, stream: str, data: bytes) -> None:
        if (call := self.call) is not None:
            call.backend.log(LogStream(stream), data)


class ThreadWork:
    def __init__(self, call: Call, pool: ThreadPoolExecutor, done: Done) -> None:
        self._call, self._done = call, done
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._is_taken = False
        context: list[Any] = [SyncContext(call.backend, self._loop)] if call.task.signature.context_type else []
        body: Callable[[], Any] = lambda: call.task.function(*context, **call.arguments)  # noqa: E731
        variables = contextvars.copy_context()
        # Calls of its context run on the event loop, and so does code of the values that are passed to them. The thread
        # gets what is raised there.
        self._body = _ThreadBody(call)
        variables.run(enter_body, self._body)
        try:
            future = pool.submit(self._run, variables, body)
        except RuntimeError as error:
            # No thread can be started. The pool has queued the body nevertheless, and another thread may have begun it.
            if self._take():
                self._loop.call_soon(done, _not_started(error))
        else:
            future.add_done_callback(self._dropped)

    def stop(self, cause: StopCause) -> None:
        """Nothing more than `ctx.stopping`, which the attempt answers by itself."""

    def escalate(self) -> None:
        """Nothing: no thread can be killed."""

    def _take(self) -> bool:
        """Return True for the first caller: the thread that runs the body, or the one that prevents it."""
        with self._lock:
            taken, self._is_taken = self._is_taken, True
        return not taken

    def _run(self, context: contextvars.Context, body: Callable[[], Any]) -> None:
        """In the thread: run the body if it is still wanted, and report its end to the event loop."""
        if self._take():
            value, error = context.run(_contained, body)
            self._body.call = None  # Contexts that were copied from the body's may outlive it.
            call = self._call
            self._tell(lambda: failed(error, call.task.retried) if error is not None else returned(call, value))

    def _dropped(self, future: Future[None]) -> None:
        if future.cancelled() and self._take():
            self._tell(lambda: None)  # The pool was closed before its turn came: it never began.

    def _tell(self, outcome: Callable[[], Outcome | None]) -> None:
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits for it any more.
            self._loop.call_soon_threadsafe(report, self._done, outcome)


def _not_started(error: RuntimeError) -> Raised:
    return Raised(f"no thread can be started: {error}", FailureType.SESSION_ERROR)


def _contained(body: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Return every exception as a value: a BaseException must not end the pool's thread."""
    try:
        return body(), None
    except BaseException as error:
        return None, error
