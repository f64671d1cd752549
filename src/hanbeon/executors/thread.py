"""Bodies that are plain functions, run in threads of the engine's process."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hanbeon.executors.executor import Call, Done, StopCause, failed, returned
from hanbeon.tasks.context import SyncContext
from hanbeon.tasks.task import THREAD


class ThreadExecutor:
    """Cannot kill: a stop sets `ctx.stopping`, and a body that ignores it keeps its slot until it returns."""

    name = THREAD
    lends_transactions = True
    start_seconds = 0.0
    stop_seconds = 0.0

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="hanbeon-task")

    def start(self, call: Call, done: Done) -> ThreadWork:
        return ThreadWork(call, self._pool, done)

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class ThreadWork:
    def __init__(self, call: Call, pool: ThreadPoolExecutor, done: Done) -> None:
        self._call, self._done = call, done
        loop = asyncio.get_running_loop()
        context: list[Any] = [SyncContext(call.backend, loop)] if call.task.signature.context_type else []
        body: Callable[[], Any] = lambda: call.task.function(*context, **call.arguments)  # noqa: E731
        future = loop.run_in_executor(pool, contextvars.copy_context().run, _contained, body)
        future.add_done_callback(self._ended)

    def stop(self, cause: StopCause) -> None:
        """Nothing more than `ctx.stopping`, which the attempt answers by itself."""

    def _ended(self, future: asyncio.Future[tuple[Any, BaseException | None]]) -> None:
        if future.cancelled():
            return self._done(None)  # The pool was closed before its turn came: it never began.
        value, error = future.result()
        return self._done(failed(self._call, error) if error is not None else returned(self._call, value))


def _contained(body: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Return every exception as a value: a BaseException must not end the pool's thread."""
    try:
        return body(), None
    except BaseException as error:
        return None, error
