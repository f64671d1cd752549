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
    # What a configuration file said last of these limits, and no more than it said.
    declared: Mapping[str, Any] | None = None

    @property
    def differs(self) -> bool:
        """Whether somebody has changed since what was declared."""
        return self.declared is not None and _merged(self.limits, self.declared) != self.limits


async def change_queue(tx: Tx, name: str, limits: Mapping[str, Any] | None, paused: bool | None) -> QueueRecord:
    """Merge changed limits and the pause into a queue's row, under its lock, and tell."""
    rows = await tx.fetch("queue_by_name", name)
    if not rows:
        raise NotFound(f"there is no queue {name!r}; a queue exists from its first job or configuration on")
    before = _record(rows[0])
    after = msgspec.structs.replace(
        before, paused=before.paused if paused is None else paused, limits=_merged(before.limits, limits or {})
    )
    await _write(tx, after)
    return after


async def declare_queues(tx: Tx, declared: Mapping[str, Mapping[str, Any]]) -> list[QueueRecord]:
    """Put declared limits in force where they are declared otherwise than last; the queues that this changed.

    Whoever declares the same again changes nothing, so what an operator changed since stays. What the last declaration
    named and this one does not is lifted; what neither names is left alone.
    """
    if not declared:
        return []
    for name in declared:
        check_name("queue", name, required=True)
    await tx.fetch("add_queues", to_json([{"name": name} for name in declared]))
    changed = []
    for row in await tx.fetch("lock_queues_named", to_json(list(declared))):
        before = _record(row)
        said = declared[before.name]
        if before.declared == said:
            continue
        lifted = {field: getattr(QueueLimits(), field) for field in before.declared or {}}
        after = msgspec.structs.replace(before, limits=_merged(before.limits, {**lifted, **said}), declared=said)
        await _write(tx, after)
        changed.append(after)
    return changed


async def _write(tx: Tx, queue: QueueRecord) -> None:
    written = await tx.fetch(
        "change_queue",
        queue.id,
        queue.paused,
        queue.limits.limited,
        to_json(queue.limits),
        None if queue.declared is None else to_json(queue.declared),
    )
    details = {"paused": queue.paused, "limits": msgspec.to_builtins(queue.limits)}
    tx.emit(Event(type=QUEUE_CHANGED, at=written[0]["changed_at"], queue=queue.name, details=details))
    tx.wake("work")


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
    declared = None if row["declared"] is None else msgspec.json.decode(row["declared"])
    return QueueRecord(row["id"], row["name"], bool(row["paused"]), _limits.decode(row["limits"]), declared)
