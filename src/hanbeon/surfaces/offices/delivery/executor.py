"""Sends messages on the engine's event loop, over the connections of HTTP tasks and through the messenger."""

from __future__ import annotations

import asyncio

from hanbeon.domain.outcome import Outcome, Returned
from hanbeon.errors import HanbeonError, TaskError
from hanbeon.executors.executor import Call, Done, Executor, StopCause, failed, raised, report
from hanbeon.executors.http.executor import HttpExecutor
from hanbeon.extras import check_extra
from hanbeon.guarded_task import guarded_task
from hanbeon.logs import get_logger
from hanbeon.messages import Message, Messenger, Tone
from hanbeon.outbound.targets import masked
from hanbeon.store.store import Store
from hanbeon.surfaces.offices.delivery.rules import NOBODY, OUTGOING, WebhookSpec
from hanbeon.surfaces.offices.listener_rows import listener_by_id, note_failure, note_success

_log = get_logger("hanbeon.outgoing")


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
        report(self._done, lambda: None if task.cancelled() else task.result())


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
        return failed(error)


async def notify(messenger: Messenger, store: Store, call: Call) -> Outcome | None:
    """Send it, and record the outcome. If cancelled, it returns when nothing of the work is left."""
    args = call.arguments
    target = await store.read(lambda tx: listener_by_id(tx, args["listener"]))
    if target is None:
        return NOBODY
    try:
        message = Message(target.url, args["title"], args["body"], tone=Tone.FAILURE)
        await messenger.send(message, key=call.backend.job.id)
    except TaskError as error:
        why = str(error)
        _log.warning("notification_failed", target=masked(target.url), office=target.office_id, error=why)
        await store.write(
            lambda tx: note_failure(tx, target.id, why, patience_us=0, at_once=False, last_try_since=None)
        )
        return raised(error)
    await store.write(lambda tx: note_success(tx, target.id))
    return Returned()
