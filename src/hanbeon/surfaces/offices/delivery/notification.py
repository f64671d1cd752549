"""One attempt to notify people of a failure, through Apprise's services, in a process that can be killed."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.executors.executor import Call, Executor, StopCause, Work
from hanbeon.logs import get_logger
from hanbeon.outbound.messages import send_message
from hanbeon.outbound.targets import masked, without_secrets
from hanbeon.settings import Settings
from hanbeon.store.operations.listeners import listener_by_id, note_failure, note_success
from hanbeon.store.store import Store
from hanbeon.store.tx import to_json
from hanbeon.surfaces.offices.delivery.specs import NOBODY
from hanbeon.tasks.context import AttemptBackend
from hanbeon.tasks.task import Task, TaskOptions

_log = get_logger("hanbeon.outgoing")


class AttemptWithSecrets:
    """The backend of an attempt whose job has other arguments for the process that runs it."""

    def __init__(self, backend: AttemptBackend, job: Claimed) -> None:
        self._desk, self.job = backend, job

    def __getattr__(self, name: str) -> Any:
        return getattr(self._desk, name)


async def notify(executor: Executor, store: Store, settings: Settings, call: Call, stop: StopCauseOf) -> Outcome | None:
    """Send it, and record the outcome."""
    args = call.arguments
    target = await store.read(lambda tx: listener_by_id(tx, args["listener"]))
    if target is None:
        return NOBODY
    call_args = {
        "url": target.url,
        "title": args["title"],
        "body": args["body"],
        "schemes": settings.message_schemes,
        "allow_private": settings.outbound_allow_private,
    }
    outcome = await _run(executor, _confided(call, call_args, executor), stop)
    if isinstance(outcome, Returned):
        await store.write(lambda tx: note_success(tx, target.id))
    elif isinstance(outcome, Raised):
        outcome = msgspec.structs.replace(outcome, message=without_secrets(outcome.message, target.url))
        message = outcome.message
        _log.warning("notification_failed", target=masked(target.url), office=target.office_id, error=message)
        await store.write(
            lambda tx: note_failure(tx, target.id, message, patience_us=0, at_once=False, last_try_since=None)
        )
    return outcome


class StopCauseOf:
    """The reason why the work is to stop, once it is."""

    cause: StopCause = StopCause.SHUTDOWN


def _confided(call: Call, args: dict[str, Any], executor: Executor) -> Call:
    job = msgspec.structs.replace(call.backend.job, args=to_json(args))
    task: Task[..., Any] = Task(call.task.name, send_message, TaskOptions(executor=executor.name))
    return Call(task, args, AttemptWithSecrets(call.backend, job), call.max_result_bytes)


async def _run(executor: Executor, call: Call, stop: StopCauseOf) -> Outcome | None:
    """Return the outcome. If cancelled, it returns when nothing of the work is left."""
    ended: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
    work: Work = executor.start(call, lambda outcome: None if ended.done() else ended.set_result(outcome))
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        work.stop(stop.cause)
        await asyncio.shield(ended)
        raise
