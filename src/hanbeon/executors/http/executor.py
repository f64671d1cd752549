"""Runs HTTP calls on the engine's event loop, over connections that they share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hanbeon.cleanup import cleanup
from hanbeon.clock import Clock
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.errors import ExtraMissing, InvalidInput, TaskError
from hanbeon.executors.executor import NOT_KEPT, Call, Done, StopCause, failed, raised, report
from hanbeon.extras import extra
from hanbeon.guarded_task import guarded_task
from hanbeon.logs import get_logger
from hanbeon.settings import Settings
from hanbeon.tasks.task import HTTP

if TYPE_CHECKING:
    from hanbeon.outbound.client import OutboundClient

_log = get_logger("hanbeon.tasks")
# For name lookups. Not the loop's own threads, which others need: a name server may be silent for half a minute.
_THREADS = 8

MakeClient = Callable[[ThreadPoolExecutor, int], "OutboundClient"]


def new_client(threads: ThreadPoolExecutor, keep: int) -> OutboundClient:
    """Imported when the first call is made: most workers make none, and should not carry the libraries for it."""
    with extra("http", "an HTTP request"):
        # Here, in a thread, so that it does not hold the loop up.
        import hanbeon.executors.http.conversation  # noqa: F401
        from hanbeon.outbound.client import OutboundClient
    from hanbeon.outbound.network import SystemResolver

    return OutboundClient(SystemResolver(threads), keep=keep)


class HttpExecutor:
    """Stops by closing the connection. The server may still process the request: only it could stop that."""

    name = HTTP
    offers_transactions = False
    start_seconds = 0.0
    stop_seconds = 0.0

    def __init__(self, settings: Settings, clock: Clock, make_client: MakeClient = new_client) -> None:
        self.settings, self.clock = settings, clock
        self._make_client = make_client
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="hanbeon-http")
        self._client: asyncio.Future[OutboundClient] | None = None
        self._running: set[HttpWork] = set()

    def start(self, call: Call, done: Done) -> HttpWork:
        return HttpWork(call, self, done, self._running)

    async def client(self) -> OutboundClient:
        """Return the client that all calls share. It is created in a thread, since that takes a while."""
        if self._client is None or (self._client.done() and self._client.exception() is not None):
            loop = asyncio.get_running_loop()
            self._client = loop.run_in_executor(
                self._threads, self._make_client, self._threads, self.settings.concurrency
            )
        return await asyncio.shield(self._client)

    @cleanup
    async def close(self) -> None:
        running = [work.task for work in self._running]
        for work in list(self._running):
            work.stop(StopCause.SHUTDOWN)
        if running:
            await asyncio.wait(running)
        if self._client is not None:
            await asyncio.wait([self._client])
            if self._client.exception() is None:
                await self._client.result().close()
        self._threads.shutdown(wait=False, cancel_futures=True)


class HttpWork:
    def __init__(self, call: Call, executor: HttpExecutor, done: Done, running: set[HttpWork]) -> None:
        self._call, self._done, self._running = call, done, running
        self._stopped = False
        self.task = guarded_task(_body(call, executor), name=call.backend.job.id)
        self.task.add_done_callback(self._ended)
        running.add(self)

    def stop(self, cause: StopCause) -> None:
        """Once: a second cancellation would interrupt the closing of the connection."""
        if not self._stopped:
            self._stopped = True
            self.task.cancel()

    def escalate(self) -> None:
        """Interrupt the closing of the connection, too."""
        self.task.cancel()

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        self._running.discard(self)
        report(self._done, lambda: self._outcome(task))

    def _outcome(self, task: asyncio.Task[Outcome]) -> Outcome | None:
        if task.cancelled():
            return None if self._stopped else raised(RuntimeError("the call was cancelled"))
        return task.result()


async def _body(call: Call, executor: HttpExecutor) -> Outcome:
    """Return the outcome. Nothing is raised, so that every error is a failure of this job and of nothing else."""
    try:
        client = await executor.client()
        from hanbeon.executors.http.conversation import converse

        outcome = await converse(client, call, executor.settings, executor.clock, os.environ)
        if isinstance(outcome, Returned) and not call.task.options.keep_result:
            return NOT_KEPT
    except (TaskError, InvalidInput, ExtraMissing) as error:
        outcome = raised(error)
    except Exception as error:
        return failed(error)
    if isinstance(outcome, Raised):
        job = call.backend.job
        _log.warning("http_call_failed", job=job.id, task=job.task, attempt=job.fence, message=outcome.message)
    return outcome
