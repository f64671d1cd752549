"""One attempt to notify people of a failure, through the services that the App's messenger reaches."""

from __future__ import annotations

from hanbeon.domain.outcome import Outcome, Returned
from hanbeon.errors import TaskError
from hanbeon.executors.executor import Call, raised
from hanbeon.logs import get_logger
from hanbeon.messages import Message, Messenger
from hanbeon.outbound.targets import masked
from hanbeon.store.store import Store
from hanbeon.surfaces.offices.delivery.rules import NOBODY
from hanbeon.surfaces.offices.listener_rows import listener_by_id, note_failure, note_success

_log = get_logger("hanbeon.outgoing")


async def notify(messenger: Messenger, store: Store, call: Call) -> Outcome | None:
    """Send it, and record the outcome. If cancelled, it returns when nothing of the work is left."""
    args = call.arguments
    target = await store.read(lambda tx: listener_by_id(tx, args["listener"]))
    if target is None:
        return NOBODY
    try:
        await messenger.send(Message(target.url, args["title"], args["body"]), key=call.backend.job.id)
    except TaskError as error:
        message = str(error)
        _log.warning("notification_failed", target=masked(target.url), office=target.office_id, error=message)
        await store.write(
            lambda tx: note_failure(tx, target.id, message, patience_us=0, at_once=False, last_try_since=None)
        )
        return raised(error)
    await store.write(lambda tx: note_success(tx, target.id))
    return Returned()
