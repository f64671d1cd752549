"""Bodies that are coroutines, run on the engine's own event loop."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, cast

from hanbeon.domain.log import LogStream
from hanbeon.domain.outcome import Outcome
from hanbeon.errors import SoftTimeout
from hanbeon.executors.body_batch import BodyBatch
from hanbeon.executors.containment import EXITS, contain_exits
from hanbeon.executors.executor import Call, Done, StopCause, failed, raised, returned
from hanbeon.guarded_task import BodyExits, GuardedTask, cancel_as, enter_body, guarded_task
from hanbeon.tasks.context import AttemptBackend, Context
from hanbeon.tasks.task import ASYNC


class AsyncExecutor:
    """Stops by cancelling, again and again: a body that swallows every cancellation keeps its slot until it returns."""

    name = ASYNC
    offers_transactions = True
    start_seconds = 0.0
    stop_seconds = 0.0

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """`monotonic` bounds turns of bodies only, so it may be the cheapest that there is."""
        self._batch = BodyBatch(monotonic)

    def start(self, call: Call, done: Done) -> AsyncWork:
        work = AsyncWork(call, done)
        self._batch.add(work)
        return work

    @property
    def starting(self) -> bool:
        """True while there are bodies that have not begun."""
        return bool(self._batch)

    async def close(self) -> None:
        return


class SoftlyTimed:
    """Awaits a body; the cancellation that `is_due` announces reaches it as SoftTimeout, wherever it waits."""

    def __init__(self, body: Awaitable[Any], seconds: float, work: AsyncWork) -> None:
        self._body, self._seconds, self._work = body.__await__(), seconds, work
        self.is_due = False

    def __await__(self) -> Generator[Any, Any, Any]:
        step: Callable[[], Any] = partial(next, self._body)
        while True:
            try:
                waits_for = step()
            except StopIteration as end:
                return end.value
            try:
                sent = yield waits_for
            except GeneratorExit:
                self._body.close()
                raise
            except BaseException as error:
                step = partial(self._body.throw, self._instead_of(error))
            else:
                step = partial(self._body.send, sent)

    def _instead_of(self, error: BaseException) -> BaseException:
        if not self.is_due or not isinstance(error, asyncio.CancelledError):
            return error
        self.is_due = False
        if self._work.task is not None:
            self._work.task.uncancel()
        return SoftTimeout(self._seconds)


class AsyncWork(BodyExits):
    """One body. It runs in a task of its own, or in one that has run others before, which all ended without waiting."""

    # On the class, because most bodies never have another value.
    _exit: BaseException | None = None
    task: GuardedTask[Any] | None = None
    stopped = False
    """It was stopped, perhaps before it began."""
    soft: SoftlyTimed | None = None

    def __init__(self, call: Call, done: Done) -> None:
        self._call: Call | None = call
        self._done: Done | None = done
        self.context = contextvars.copy_context()

    @property
    def name(self) -> str:
        assert self._call is not None
        return self._call.backend.job.id

    @property
    def backend(self) -> AttemptBackend | None:
        """The engine's side of the attempt, while it lasts."""
        return None if self._call is None else self._call.backend

    @property
    def kind(self) -> object:
        """Bodies of one kind wait alike."""
        assert self._call is not None
        return self._call.task

    def begin(self) -> None:
        """Run in a task of its own."""
        contain_exits(asyncio.get_running_loop())
        self.task = guarded_task(self.body(), name=self.name, context=self.context)
        self.task.body = self
        self.task.add_done_callback(self._task_ended)

    def begin_within(self, task: GuardedTask[Any]) -> None:
        """It runs in this task from here on, until it has ended."""
        self.task = task
        task.body = self
        task.set_name(self.name)

    def run(self, call: Call) -> Awaitable[Any]:
        """Call the function of the task."""
        task = call.task
        if task.signature.context_type:
            return cast(Awaitable[Any], task.function(Context(call.backend), **call.arguments))
        return cast(Awaitable[Any], task.function(**call.arguments))

    def soften(self) -> None:
        """Raise SoftTimeout where the body waits."""
        if self.task is not None and self.soft is not None and not self.stopped:
            self.soft.is_due = True
            cancel_as(self, self.task)

    async def body(self) -> tuple[Any, BaseException | None]:
        """Run the body; return its value, or the exit that it raised."""
        enter_body(self)
        call = self._call
        assert call is not None
        try:
            if (seconds := call.task.options.soft_timeout) is None:
                return await self.run(call), None
            self.soft = SoftlyTimed(self.run(call), seconds, self)
            call.backend.on_soft_timeout = self.soften
            return await self.soft, None
        except EXITS as error:
            # As a value: raised out of an asyncio task it would end the loop, and the worker with it.
            return None, error

    def returned(self, call: Call, value: Any) -> Outcome:
        return returned(call, value)

    def stop(self, cause: StopCause) -> None:
        self.stopped = True
        if self.soft is not None:
            self.soft.is_due = False
        self.escalate()

    def escalate(self) -> None:
        if self.task is not None:
            cancel_as(self, self.task)

    def printed(self, stream: str, data: bytes) -> None:
        if self._call is not None:
            self._call.backend.log(LogStream(stream), data)

    def exited(self, error: BaseException) -> None:
        """End the whole body by the exit of one of its tasks or callbacks."""
        if self._done is not None:
            self._exit = self._exit or error
            self.escalate()

    def _task_ended(self, task: asyncio.Task[tuple[Any, BaseException | None]]) -> None:
        if task.cancelled():
            self.ended(cancelled=True)
        elif (error := task.exception()) is not None:
            self.ended(error=error)
        else:
            self.ended(task.result())

    def ended(
        self,
        result: tuple[Any, BaseException | None] = (None, None),
        *,
        error: BaseException | None = None,
        cancelled: bool = False,
    ) -> None:
        """Report the end: what `body` returned, or what it raised, or that its task was cancelled."""
        call, done = self._call, self._done
        assert call is not None
        assert done is not None
        # Contexts that were copied from the body's know this object, and may outlive it; its own would be a cycle.
        self._call = self._done = self.task = None
        if self.soft is not None:
            call.backend.on_soft_timeout = self.soft = None
        del self.context
        value, exit_error = result
        error = self._exit or error or exit_error
        found: Outcome | None
        try:
            if cancelled and self._exit is None:
                found = None if self.stopped else raised(RuntimeError("the task cancelled itself"))
            else:
                found = self.returned(call, value) if error is None else failed(error, call.task.retried)
        except BaseException as failure:
            found = failed(failure)
        done(found)
