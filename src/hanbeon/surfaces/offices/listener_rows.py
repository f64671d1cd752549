"""Listeners of offices and the state of their deliveries. The name of a listener's queue contains its id."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.job import is_id
from hanbeon.store.operations.events import last_event_id
from hanbeon.store.operations.queues import add_queue, change_queue, leave_queues
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.offices.delivery.rules import (
    AT_ONCE,
    ListenerKind,
    is_to_be_disabled,
    queue_of_listener,
    queue_of_tests,
)

_ERROR_MOST = 500


class ListenerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored listener. `events`: the types that it subscribes to; None: all."""

    id: str
    office_id: str
    kind: ListenerKind
    position: int
    url: str
    secret: str | None = None
    events: list[str] | None = None
    since: int = 0
    created_at: int = 0
    failures: int = 0
    failing_since: int | None = None
    last_error: str | None = None
    last_failure_at: int | None = None
    last_success_at: int | None = None
    disabled_at: int | None = None
    office_name: str = ""

    @property
    def queue(self) -> str:
        return queue_of_listener(self.kind, self.id)

    def wants(self, event_type: str) -> bool:
        return self.events is None or event_type in self.events


async def listeners_of(tx: Tx, office_ids: Collection[str]) -> dict[str, list[ListenerRecord]]:
    """Return the listeners of these offices, in the order in which they were given."""
    found: dict[str, list[ListenerRecord]] = {}
    for row in await tx.fetch("listeners_of", to_json(sorted(office_ids))) if office_ids else ():
        found.setdefault(str(row["office_id"]), []).append(_record(row))
    return found


async def listener_by_id(tx: Tx, listener_id: str) -> ListenerRecord | None:
    rows = await tx.fetch("listener_by_id", listener_id) if is_id(listener_id) else []
    return _record(rows[0]) if rows else None


async def put_listeners(tx: Tx, before: Sequence[ListenerRecord], after: Sequence[ListenerRecord]) -> None:
    """Replace the listeners of a locked office. A new one receives events from now on."""
    known = {each.id: each for each in before}
    last = await last_event_id(tx)
    rows = [
        {
            **{name: getattr(each, name) for name in ("id", "office_id", "kind", "position", "url", "secret")},
            "events": None if each.events is None else to_json(each.events),
            "since": last,
        }
        for each in after
    ]
    if rows:
        await tx.fetch("put_listeners", to_json(rows))
    for each in after:
        if each.id not in known:
            await add_queue(tx, each.queue)
            await change_queue(tx, each.queue, AT_ONCE, None)
        elif known[each.id].url != each.url:
            await enable_listener(tx, known[each.id])  # A different receiver, without the old one's failures.
    await drop_listeners(tx, [each for each in before if each.id not in {it.id for it in after}])
    tx.wake("outgoing")


async def drop_listeners(tx: Tx, gone: Sequence[ListenerRecord]) -> None:
    """Delete listeners. Their pending deliveries end without a receiver, so their queues must not stay paused."""
    if gone:
        await tx.fetch("drop_listeners", to_json([each.id for each in gone]))
    for each in gone:
        if each.disabled_at is not None:
            await change_queue(tx, each.queue, None, False)
        await leave_queues(tx, [each.queue, queue_of_tests(each.id)])


async def enable_listener(tx: Tx, listener: ListenerRecord) -> None:
    """Resume deliveries, those that have waited first."""
    await tx.fetch("enable_listener", listener.id)
    if listener.disabled_at is not None:
        await change_queue(tx, listener.queue, None, False)
    tx.wake("outgoing")


async def add_queue_of_tests(tx: Tx, webhook_id: str) -> None:
    """Create the queue for test messages. Most webhooks are never tested, so it is created with the first one."""
    queue = queue_of_tests(webhook_id)
    if not await tx.fetch("queue_named", queue):
        await add_queue(tx, queue)
        await change_queue(tx, queue, AT_ONCE, None)
    tx.wake("outgoing")


async def note_success(tx: Tx, listener_id: str) -> None:
    await tx.fetch("listener_succeeded", listener_id)


async def note_failure(
    tx: Tx, listener_id: str, error: str, *, patience_us: int, at_once: bool, last_try_since: int | None
) -> bool:
    """Record a failed delivery; return True if its webhook is disabled, by this failure or before.

    `at_once`: a retry cannot succeed. `last_try_since`: the creation time of a message without retries left; if no
    other message was delivered since then either, the message is not at fault, and it waits with the others.
    """
    rows = await tx.fetch("listener_failed", listener_id, error[:_ERROR_MOST])
    if not rows:
        return False
    row = rows[0]
    kind = ListenerKind(row["kind"])
    if kind is not ListenerKind.WEBHOOK or row["disabled_at"] is not None:
        return row["disabled_at"] is not None
    silent = last_try_since is not None and (row["last_success_at"] or 0) < last_try_since
    if not (at_once or silent or is_to_be_disabled(row["failures"], row["now"] - row["failing_since"], patience_us)):
        return False
    await tx.fetch("disable_listener", listener_id)
    await change_queue(tx, queue_of_listener(kind, listener_id), None, True)
    return True


async def count_listeners(tx: Tx) -> Mapping[tuple[ListenerKind, bool], int]:
    """Count the listeners by kind and by whether they are disabled."""
    rows = await tx.fetch("count_listeners")
    return {(ListenerKind(row["kind"]), bool(row["disabled"])): row["number"] for row in rows}


def _record(row: Any) -> ListenerRecord:
    values = {name: row[name] for name in ListenerRecord.__struct_fields__}
    values |= {name: str(row[name]) for name in ("id", "office_id")}
    values["events"] = None if row["events"] is None else msgspec.json.decode(row["events"])
    return msgspec.convert(values, ListenerRecord)
