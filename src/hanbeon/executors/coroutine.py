"""Bodies that are coroutines, run on the engine's own event loop."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon.domain.outcome import Outcome
from hanbeon.executors.executor import Call, Done, StopCause, failed, raised, returned
from hanbeon.tasks.context import Context
from hanbeon.tasks.task import ASYNC


class AsyncExecutor:
    """Stops by cancelling: a body that swallows the cancellation keeps its slot until it returns."""

    name = ASYNC
    lends_transactions = True
    start_seconds = 0.0
    stop_seconds = 0.0

    def start(self, call: Call, done: Done) -> AsyncWork:
        return AsyncWork(call, done)

    async def close(self) -> None:
        return


class AsyncWork:
    __slots__ = ("_call", "_done", "_stopped", "_task")

    def __init__(self, call: Call, done: Done) -> None:
        self._call, self._done = call, done
        self._stopped = False
        self._task = asyncio.get_running_loop().create_task(_body(call), name=call.backend.job.id)
        self._task.add_done_callback(self._ended)

    def stop(self, cause: StopCause) -> None:
        self._stopped = True
        self._task.cancel()

    def _ended(self, task: asyncio.Task[tuple[Any, BaseException | None]]) -> None:
        self._done(self._outcome(task))

    def _outcome(self, task: asyncio.Task[tuple[Any, BaseException | None]]) -> Outcome | None:
        if task.cancelled():
            return None if self._stopped else raised(RuntimeError("the task cancelled itself"))
        error = task.exception()
        if error is not None:
            return failed(self._call, error)
        value, error = task.result()
        return failed(self._call, error) if error is not None else returned(self._call, value)


async def _body(call: Call) -> tuple[Any, BaseException | None]:
    context = [Context(call.backend)] if call.task.signature.context_type else []
    try:
        return await call.task.function(*context, **call.arguments), None
    except SystemExit as error:
        # As a value: raised out of an asyncio task it would end the loop, and the worker with it.
        return None, error
