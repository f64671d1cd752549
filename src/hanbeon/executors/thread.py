"""Bodies that are plain functions, run in threads of the engine's process."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hanbeon.domain.outcome import Outcome
from hanbeon.executors.port import Call, StopCause, failed, returned
from hanbeon.tasks.context import SyncContext
from hanbeon.tasks.task import THREAD


class ThreadExecutor:
    """Cannot kill: a stop shows in `ctx.stopping`, and a body that does not look keeps its slot until it returns."""

    name = THREAD
    lends_transactions = True
    stop_seconds = 0.0

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="hanbeon-task")

    def start(self, call: Call) -> ThreadWork:
        return ThreadWork(call, self._pool)

    async def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class ThreadWork:
    def __init__(self, call: Call, pool: ThreadPoolExecutor) -> None:
        self._call = call
        loop = asyncio.get_running_loop()
        context: list[Any] = [SyncContext(call.desk, loop)] if call.task.signature.context_type else []
        body: Callable[[], Any] = lambda: call.task.function(*context, **call.arguments)  # noqa: E731
        self._future = loop.run_in_executor(pool, contextvars.copy_context().run, _contained, body)

    def stop(self, cause: StopCause) -> None:
        """Nothing more than `ctx.stopping`, which the desk answers by itself."""

    async def outcome(self) -> Outcome | None:
        await asyncio.wait([self._future])
        value, error = self._future.result()
        return failed(self._call, error) if error is not None else returned(self._call, value)


def _contained(body: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Hands every exception over as a value: one that is no Exception must not end the pool's thread."""
    try:
        return body(), None
    except BaseException as error:
        return None, error
