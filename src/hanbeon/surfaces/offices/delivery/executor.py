"""Sends messages on the engine's event loop, over the connections of HTTP tasks and through the messenger."""

from __future__ import annotations

import asyncio

from hanbeon.domain.outcome import Outcome
from hanbeon.errors import HanbeonError
from hanbeon.executors.executor import Call, Done, Executor, StopCause, failed, raised, report
from hanbeon.executors.http.executor import HttpExecutor
from hanbeon.extras import check_extra
from hanbeon.guarded_task import guarded_task
from hanbeon.messages import Messenger
from hanbeon.store.store import Store
from hanbeon.surfaces.offices.delivery.notification import notify
from hanbeon.surfaces.offices.delivery.rules import OUTGOING, WebhookSpec


class DeliveryExecutor:
    """Runs deliveries."""

    name = OUTGOING
    offers_transactions = False
    start_seconds = 0.0
    stop_seconds = 1.0  # For the end of a process that was killed.

    def __init__(self, store: Store, http: HttpExecutor, blocking: Executor, messenger: Messenger) -> None:
        self.store, self.http, self.messenger = store, http, messenger
        self.running: set[DeliveryWork] = set()

    def start(self, call: Call, done: Done) -> DeliveryWork:
        return DeliveryWork(self, call, done)

    async def close(self) -> None:
        """Close it before the executors that it uses."""
        running = [work.task for work in self.running]
        for work in list(self.running):
            work.stop(StopCause.SHUTDOWN)
        if running:
            await asyncio.wait(running)


class DeliveryWork:
    def __init__(self, executor: DeliveryExecutor, call: Call, done: Done) -> None:
        self._executor, self._call, self._done = executor, call, done
        self._stopped = False
        self.task = guarded_task(_body(executor, call), name=call.backend.job.id)
        self.task.add_done_callback(self._ended)
        executor.running.add(self)

    def stop(self, cause: StopCause) -> None:
        """Cancel once: a second cancellation would not wait for the end of the work."""
        if not self._stopped:
            self._stopped = True
            self.task.cancel()

    def escalate(self) -> None:
        self.task.cancel()

    def _ended(self, task: asyncio.Task[Outcome | None]) -> None:
        self._executor.running.discard(self)
        report(self._call, self._done, lambda: None if task.cancelled() else task.result())


async def _body(executor: DeliveryExecutor, call: Call) -> Outcome | None:
    """Return the outcome; any error is a failure of this message and of nothing else."""
    http = executor.http
    try:
        if isinstance(call.task.spec, WebhookSpec):
            check_extra("messages", "a webhook", "standardwebhooks")
            client = await http.client()
            # Imported late: it loads libraries that most workers never need.
            from hanbeon.surfaces.offices.delivery.webhook import deliver

            return await deliver(client, executor.store, http.settings, http.clock, call.backend.job, call.arguments)
        return await notify(executor.messenger, executor.store, call)
    except HanbeonError as error:
        return raised(error)
    except Exception as error:
        return failed(call, error)
