"""Bodies that are coroutines, run on the engine's own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hanbeon.domain.outcome import Outcome
from hanbeon.executors.containment import EXITS, BodyExits, contain_exits, enter_body
from hanbeon.executors.executor import Call, Done, StopCause, failed, raised, report, returned
from hanbeon.tasks.context import Context
from hanbeon.tasks.task import ASYNC


class AsyncExecutor:
    """Stops by cancelling, again and again: a body that swallows every cancellation keeps its slot until it returns."""

    name = ASYNC
    lends_transactions = True
    start_seconds = 0.0
    stop_seconds = 0.0

    def start(self, call: Call, done: Done) -> AsyncWork:
        contain_exits(asyncio.get_running_loop())
        return AsyncWork(call, done)

    async def close(self) -> None:
        return


class AsyncWork:
    __slots__ = ("_call", "_done", "_exit", "_exits", "_stopped", "_task")

    def __init__(self, call: Call, done: Done) -> None:
        self._call, self._done = call, done
        self._stopped = False
        self._exit: BaseException | None = None
        self._exits = BodyExits(self._exited)
        self._task = asyncio.get_running_loop().create_task(_contained(self.run, self._exits), name=call.backend.job.id)
        self._task.add_done_callback(self._ended)

    async def run(self) -> Any:
        """The body."""
        context = [Context(self._call.backend)] if self._call.task.signature.context_type else []
        return await self._call.task.function(*context, **self._call.arguments)

    def returned(self, value: Any) -> Outcome:
        return returned(self._call, value)

    def stop(self, cause: StopCause) -> None:
        self._stopped = True
        self._task.cancel()

    def insist(self) -> None:
        self._task.cancel()

    def _exited(self, error: BaseException) -> None:
        """A task or callback of the body raised SystemExit or KeyboardInterrupt: the whole body ends by it."""
        self._exit = self._exit or error
        self._task.cancel()

    def _ended(self, task: asyncio.Task[tuple[Any, BaseException | None]]) -> None:
        self._exits.handler = None
        report(self._call, self._done, lambda: self._outcome(task))

    def _outcome(self, task: asyncio.Task[tuple[Any, BaseException | None]]) -> Outcome | None:
        if self._exit is not None:
            return failed(self._call, self._exit)
        if task.cancelled():
            return None if self._stopped else raised(RuntimeError("the task cancelled itself"))
        error = task.exception()
        if error is not None:
            return failed(self._call, error)
        value, error = task.result()
        return failed(self._call, error) if error is not None else self.returned(value)


async def _contained(body: Callable[[], Awaitable[Any]], exits: BodyExits) -> tuple[Any, BaseException | None]:
    enter_body(exits)
    try:
        return await body(), None
    except EXITS as error:
        # As a value: raised out of an asyncio task it would end the loop, and the worker with it.
        return None, error
