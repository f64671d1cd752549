"""Bodies that are coroutines, run on the engine's own event loop."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon.domain.outcome import Outcome
from hanbeon.executors.port import Call, StopCause, failed, raised, returned
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
        self._task = asyncio.get_running_loop().create_task(self._body(), name=call.desk.job.id)

    async def _body(self) -> tuple[Any, BaseException | None]:
        context = [Context(self._call.desk)] if self._call.task.signature.context_type else []
        try:
            return await self._call.task.function(*context, **self._call.arguments), None
        except SystemExit as error:
            # As a value: raised out of an asyncio task it would end the loop, and the worker with it.
            return None, error

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
            return failed(self._call, error)
        value, error = self._task.result()
        return failed(self._call, error) if error is not None else returned(self._call, value)
