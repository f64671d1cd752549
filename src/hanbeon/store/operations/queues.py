"""Limits and pauses of queues. In force at the next claim of every instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hanbeon.domain.events import QUEUE_CHANGED, Event
from hanbeon.domain.job import check_name
from hanbeon.domain.limits import NO_LIMIT, QueueLimits
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.store.tx import Tx, to_json

_limits = msgspec.json.Decoder(QueueLimits)


class QueueRecord(msgspec.Struct, frozen=True):
    id: int
    name: str
    paused: bool
    limits: QueueLimits


async def change_queue(tx: Tx, name: str, limits: Mapping[str, Any] | None, paused: bool | None) -> QueueRecord:
    """Merge changed limits and the pause into a queue's row, under its lock, and tell."""
    rows = await tx.fetch("queue_by_name", name)
    if not rows:
        raise NotFound(f"there is no queue {name!r}; a queue exists from its first job or configuration on")
    before = _record(rows[0])
    after = QueueRecord(
        before.id,
        name,
        before.paused if paused is None else paused,
        _merged(before.limits, limits or {}),
    )
    changed = await tx.fetch(
        "change_queue",
        before.id,
        after.paused,
        after.limits.limited,
        msgspec.json.encode(after.limits).decode(),
    )
    details = {"paused": after.paused, "limits": msgspec.to_builtins(after.limits)}
    tx.emit(Event(type=QUEUE_CHANGED, at=changed[0]["changed_at"], queue=name, details=details))
    tx.wake("work")
    return after


async def queues(tx: Tx) -> list[QueueRecord]:
    return [_record(row) for row in await tx.fetch("queues")]


async def add_queue(tx: Tx, name: str) -> None:
    """Make a queue exist."""
    check_name("queue", name, required=True)
    await tx.fetch("add_queues", to_json([{"name": name}]))


def _merged(limits: QueueLimits, changes: Mapping[str, Any]) -> QueueLimits:
    """Checked before it is written: limits that cannot be read back would stop every claim."""
    try:
        merged = msgspec.convert(msgspec.to_builtins(limits) | dict(changes), QueueLimits)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"these limits do not fit: {error}", field="limits") from error
    unknown = changes.keys() - set(QueueLimits.__struct_fields__)
    if unknown:
        raise InvalidInput(
            f"{', '.join(sorted(unknown))} is no limit; use {', '.join(QueueLimits.__struct_fields__)}", field="limits"
        )
    numbers = [merged.max_concurrent, merged.max_per_key, *merged.roles.values(), *merged.keys.values()]
    if min(numbers) < NO_LIMIT:
        raise InvalidInput(f"{min(numbers)} is negative; use {NO_LIMIT} for no limit", field="limits")
    return merged


def _record(row: Any) -> QueueRecord:
    return QueueRecord(row["id"], row["name"], bool(row["paused"]), _limits.decode(row["limits"]))
