"""Whom offices tell: who they are, and how telling them goes. A listener's queue carries its id in its name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from hanbeon.domain.delivery import AT_ONCE, ListenerKind, is_to_be_disabled, queue_of_listener, queue_of_tests
from hanbeon.domain.job import is_id
from hanbeon.store.operations.events import last_event_id
from hanbeon.store.operations.orphaned_queues import leave_queues
from hanbeon.store.operations.queues import add_queue, change_queue
from hanbeon.store.tx import Tx, to_json

_ERROR_MOST = 500


class ListenerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A listener as the database has it. `events`: the types that it asked for; None: all."""

    id: str
    office_id: str
    kind: ListenerKind
    place: int
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
    """The listeners of these offices, in the order in which they were named."""
    found: dict[str, list[ListenerRecord]] = {}
    for row in await tx.fetch("listeners_of", to_json(sorted(office_ids))) if office_ids else ():
        found.setdefault(str(row["office_id"]), []).append(_record(row))
    return found


async def listener_by_id(tx: Tx, listener_id: str) -> ListenerRecord | None:
    rows = await tx.fetch("listener_by_id", listener_id) if is_id(listener_id) else []
    return _record(rows[0]) if rows else None


async def put_listeners(tx: Tx, before: Sequence[ListenerRecord], after: Sequence[ListenerRecord]) -> None:
    """Write down the listeners of a locked office as they are to be. A new one hears of what comes from now on."""
    known = {each.id: each for each in before}
    last = await last_event_id(tx)
    rows = [
        {
            **{name: getattr(each, name) for name in ("id", "office_id", "kind", "place", "url", "secret")},
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
            await enable_listener(tx, known[each.id])  # Somebody else is there, with a history of their own.
    await drop_listeners(tx, [each for each in before if each.id not in {it.id for it in after}])
    tx.wake("outgoing")


async def drop_listeners(tx: Tx, gone: Sequence[ListenerRecord]) -> None:
    """Remove them. What was on its way to them finds nobody: its queues must not stay paused for that."""
    if gone:
        await tx.fetch("drop_listeners", to_json([each.id for each in gone]))
    for each in gone:
        if each.disabled_at is not None:
            await change_queue(tx, each.queue, None, False)
        await leave_queues(tx, [each.queue, queue_of_tests(each.id)])


async def enable_listener(tx: Tx, listener: ListenerRecord) -> None:
    """Send to it again, what has waited first."""
    await tx.fetch("enable_listener", listener.id)
    if listener.disabled_at is not None:
        await change_queue(tx, listener.queue, None, False)
    tx.wake("outgoing")


async def add_queue_of_tests(tx: Tx, webhook_id: str) -> None:
    """Make room for a message that tries a webhook out. Most never are, so there is no such queue before the first."""
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
    """Note a try that failed; whether its webhook is disabled, by this or before.

    `at_once`: no other try could go otherwise. `last_try_since`: of a message that is not tried again, since when it
    has been there; if nothing else has got through either, it is not the message's fault, and it waits with the others.
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
    """How many there are, by kind and whether they are disabled."""
    rows = await tx.fetch("count_listeners")
    return {(ListenerKind(row["kind"]), bool(row["disabled"])): row["number"] for row in rows}


def _record(row: Any) -> ListenerRecord:
    values = {name: row[name] for name in ListenerRecord.__struct_fields__}
    values |= {name: str(row[name]) for name in ("id", "office_id")}
    values["events"] = None if row["events"] is None else msgspec.json.decode(row["events"])
    return msgspec.convert(values, ListenerRecord)
