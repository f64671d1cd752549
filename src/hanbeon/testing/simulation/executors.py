"""Executors of simulated processes: bodies enter the journal, and plain functions run in simulated threads."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

from hanbeon.clock import Clock
from hanbeon.domain.json_text import to_json_text
from hanbeon.domain.outcome import Outcome, Returned
from hanbeon.executors.coroutine import AsyncExecutor, AsyncWork
from hanbeon.executors.executor import Call, Done, Executor, StopCause, failed, report, returned
from hanbeon.executors.http.executor import HttpExecutor, HttpWork
from hanbeon.executors.stream import StreamExecutor
from hanbeon.guarded_task import BodyExits, enter_body
from hanbeon.settings import Settings
from hanbeon.store.user_transaction import UserTransaction
from hanbeon.tasks.context import SyncContext, SyncTransaction, transaction_unsupported
from hanbeon.tasks.registry import Registry
from hanbeon.tasks.task import PROCESS, THREAD
from hanbeon.testing.simulation.threads import GreenThread, pause, wait
from hanbeon.testing.simulation.world import Body, World, current_node

T = TypeVar("T")
_START_SECONDS = 0.5
_ANSWER_SECONDS = 0.5


class SimulatedExecutors:
    """Makes the executors of each worker of a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(
        self, settings: Settings, clock: Clock, tasks: Registry, threads: int
    ) -> tuple[list[Executor], HttpExecutor, Executor]:
        http = HttpExecutor(settings, clock) if self._world.http is None else FakeHttp(self._world, settings, clock)
        process = SimulatedProcesses(self._world, settings.max_payload_bytes)
        bodies = JournalingExecutor(self._world)
        return [bodies, SimulatedThreads(self._world), http, StreamExecutor(), process], http, process


def _journal(world: World, call: Call) -> Any:
    job = call.backend.job
    return world.body(job.id, job.task, job.queue, job.role, job.fence)


class FakeHttp(HttpExecutor):
    """The product's own executor of HTTP tasks, with a client that asks a function."""

    def __init__(self, world: World, settings: Settings, clock: Clock) -> None:
        super().__init__(settings, clock)
        self._world = world

    def start(self, call: Call, done: Done) -> HttpWork:
        journal = _journal(self._world, call)
        journal.__enter__()

        def ended(outcome: Outcome | None) -> None:
            error = None if isinstance(outcome, Returned) else ConnectionError()
            with contextlib.suppress(ConnectionError):
                journal.__exit__(None if error is None else type(error), error, None)
            done(outcome)

        return super().start(call, ended)

    async def client(self) -> Any:
        return _FakeClient(self._world)


class _FakeClient:
    def __init__(self, world: World) -> None:
        self._world = world

    @contextlib.asynccontextmanager
    async def send(self, request: Any, **_: Any) -> AsyncIterator[_FakeResponse]:
        await asyncio.sleep(self._world.draw() * _ANSWER_SECONDS)
        assert self._world.http is not None
        scheme = request.origin.scheme
        self._world.requests.append(request)
        answer = self._world.http(f"{scheme}://{request.origin.authority}{request.target}")
        status, value = answer if isinstance(answer, tuple) else (200, answer)
        await asyncio.sleep(self._world.draw() * _ANSWER_SECONDS)
        yield _FakeResponse(status, to_json_text(value, "answer", "http").encode())


class _FakeResponse:
    def __init__(self, status: int, body: bytes) -> None:
        self.status, self._body = status, body

    def header(self, name: str) -> str:
        return "application/json" if name == "content-type" else ""

    async def read(self, limit: int) -> tuple[bytes, bool]:
        return self._body[:limit], len(self._body) <= limit


class JournalingExecutor(AsyncExecutor):
    """The product's own executor of coroutines, with a journal."""

    def __init__(self, world: World) -> None:
        super().__init__(world.loop.time)
        self._world = world

    def start(self, call: Call, done: Done) -> AsyncWork:
        work = _JournaledWork(call, done)
        work.world = self._world
        self._batch.add(work)
        return work


class _JournaledWork(AsyncWork):
    world: World

    def run(self, call: Call) -> Awaitable[Any]:
        return self._run(call, super().run)

    async def _run(self, call: Call, run: Callable[[Call], Awaitable[Any]]) -> Any:
        with _journal(self.world, call):
            return await run(call)


class SimulatedThreads:
    """Plain functions in threads. As in the product, a stop only sets `ctx.stopping`."""

    name = THREAD
    offers_transactions = True
    start_seconds = 0.0
    stop_seconds = 0.0

    def __init__(self, world: World) -> None:
        self._world = world

    def start(self, call: Call, done: Done) -> BlockingWork:
        return BlockingWork(self._world, call, done, BlockingContext(call.backend, self._world.loop))

    async def close(self) -> None:
        return


class SimulatedProcesses:
    """Plain functions as in processes of their own: no transaction, and a stop kills."""

    name = PROCESS
    offers_transactions = False
    start_seconds = 0.0
    stop_seconds = 0.5

    def __init__(self, world: World, max_payload_bytes: int) -> None:
        self._world, self._max_payload_bytes = world, max_payload_bytes

    def start(self, call: Call, done: Done) -> BlockingWork:
        context = ProcessLikeContext(call.backend, self._world.loop, self._max_payload_bytes)
        return KillableWork(self._world, call, done, context)

    async def close(self) -> None:
        return


class BlockingWork:
    """A plain function in a simulated thread."""

    def __init__(self, world: World, call: Call, done: Done, context: SyncContext) -> None:
        node = current_node.get()
        assert node is not None
        self._world, self._node, self._call, self._done = world, node, call, done
        self._context = context
        self._body: Body | None = None
        self._is_over = False
        variables = contextvars.copy_context()
        variables.run(enter_body, BodyExits())
        self._thread = GreenThread(node, self._work, variables)
        world.later(node, world.draw() * _START_SECONDS, self._thread.resume)

    def stop(self, cause: StopCause) -> None:
        """Nothing more than `ctx.stopping`."""

    def escalate(self) -> None:
        """Nothing: no thread can be killed."""

    def _work(self) -> None:
        call, value, error = self._call, None, None
        arguments = [self._context] if call.task.signature.context_type else []
        try:
            with _journal(self._world, call) as self._body:
                value = call.task.function(*arguments, **call.arguments)
        except BaseException as raised:
            error = raised
        pause(self._world.draw() * 1e-3)
        self._end(lambda: failed(error, call.task.retried) if error is not None else returned(call, value))

    def _end(self, outcome: Callable[[], Any]) -> None:
        if not self._is_over:
            self._is_over = True
            self._world.later(self._node, 0.0, partial(report, self._done, outcome))


class KillableWork(BlockingWork):
    """A plain function in a process: when it is stopped, nothing more of it runs."""

    def _work(self) -> None:
        if self._world.monotonic() >= self._call.backend.give_up_at:
            self._end(lambda: None)  # Its supervisor would not let it begin: the engine stood still meanwhile.
            return
        super()._work()

    def stop(self, cause: StopCause) -> None:
        self._thread.kill()
        if self._body is not None and self._body.end is None:
            self._body.end, self._body.outcome = self._world.now, "killed"
        self._end(lambda: None)

    def escalate(self) -> None:
        self.stop(StopCause.SHUTDOWN)


class BlockingContext(SyncContext):
    """The context of a plain function in a simulated thread, which alone blocks."""

    def transaction(self) -> SyncTransaction:
        return BlockingTransaction(self._wait(self._backend.transaction()), self._loop)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return _wait(self._loop, work)


class BlockingTransaction(SyncTransaction):
    def __init__(self, transaction: UserTransaction, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(transaction, loop)
        self._simulated = loop

    def execute(self, sql: str, *args: Any) -> None:
        _wait(self._simulated, self.user_transaction.execute(sql, *args))

    def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        return _wait(self._simulated, self.user_transaction.fetch(sql, *args))


class _Limit:
    """Stands for the link to the engine, of which chains read the limit of what a job carries."""

    def __init__(self, max_payload_bytes: int) -> None:
        self.max_payload_bytes = max_payload_bytes
        self.link = self


class ProcessLikeContext(BlockingContext):
    """The context of a plain function in a process."""

    def __init__(self, backend: Any, loop: asyncio.AbstractEventLoop, max_payload_bytes: int) -> None:
        super().__init__(backend, loop)
        self._remote = _Limit(max_payload_bytes)

    def progress(self, value: Any) -> None:
        to_json_text(value, "progress", "progress")
        super().progress(value)

    def transaction(self) -> Any:
        raise transaction_unsupported(PROCESS)


def _wait(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    return wait(loop.create_task(work))
