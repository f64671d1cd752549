"""Bodies that are coroutines, run on the engine's own event loop."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon.domain.outcome import Outcome
from hanbeon.executors.port import Call, StopCause, raised, returned
from hanbeon.tasks.context import Context
from hanbeon.tasks.task import ASYNC


class AsyncExecutor:
    """Stops by cancelling: a body that swallows the cancellation keeps its slot until it returns."""

    name = ASYNC
    lends_transactions = True
    stop_seconds = 0.0

    def start(self, call: Call) -> AsyncWork:
        return AsyncWork(call)

    async def close(self) -> None:
        return


class AsyncWork:
    def __init__(self, call: Call) -> None:
        self._call = call
        self._stopped = False
        self._task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(self._body(), name=call.desk.job.id)

    async def _body(self) -> Any:
        context = [Context(self._call.desk)] if self._call.task.signature.context_type else []
        return await self._call.task.function(*context, **self._call.arguments)

    def stop(self, cause: StopCause) -> None:
        self._stopped = True
        self._task.cancel()

    async def outcome(self) -> Outcome | None:
        await asyncio.wait([self._task])
        if self._task.cancelled():
            if self._stopped:
                return None
            return raised(RuntimeError("the task cancelled itself"))
        error = self._task.exception()
        if error is not None:
            return raised(error)
        return returned(self._call, self._task.result())
