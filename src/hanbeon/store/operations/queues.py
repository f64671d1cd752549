"""Limits and pauses of queues, and reserved queues whose owner is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.events import QUEUE_CHANGED, Event
from hanbeon.domain.job import check_name
from hanbeon.domain.limits import NO_LIMIT, QueueLimits
from hanbeon.domain.reserved_queues import check_limits_free, reserved_prefix
from hanbeon.domain.statistics import QueueStatistics, all_states
from hanbeon.errors import InvalidInput, NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.pages import Slice, fit_page, keyed
from hanbeon.store.operations.tallies import stocks
from hanbeon.store.records import queue_of
from hanbeon.store.tx import Tx, to_json

_limits = msgspec.json.Decoder(QueueLimits)


class QueueRecord(msgspec.Struct, frozen=True):
    id: int
    name: str
    paused: bool
    limits: QueueLimits
    # The limits that a configuration file declared last, and only those that it named.
    declared: Mapping[str, Any] | None = None

    @property
    def differs(self) -> bool:
        """True if an operator has changed a declared limit since."""
        return self.declared is not None and _merged(self.limits, self.declared) != self.limits


class QueuePage(NamedTuple):
    """Queues by name, their statistics, and the moment of these."""

    queues: Slice[QueueRecord]
    numbers: Mapping[str, QueueStatistics]
    at: int


async def change_queue(tx: Tx, name: str, limits: Mapping[str, Any] | None, paused: bool | None) -> QueueRecord:
    """Merge changed limits and the pause into a queue's row, under its lock, and emit an event."""
    rows = await tx.fetch("queue_by_name", name)
    if not rows:
        raise NotFound(Rule("queue_not_found", queue=quoted(name)))
    before = _record(rows[0])
    after = msgspec.structs.replace(
        before, paused=before.paused if paused is None else paused, limits=_merged(before.limits, limits or {})
    )
    await _write(tx, after)
    return after


async def declare_queues(tx: Tx, declared: Mapping[str, Mapping[str, Any]]) -> list[QueueRecord]:
    """Apply declared limits where they differ from the last declaration; return the queues that changed.

    Repeating the same declaration changes nothing, so changes by an operator are kept. Limits that only the last
    declaration named are lifted; limits that neither names are left alone.
    """
    if not declared:
        return []
    for name, limits in declared.items():
        check_name("queue", name, required=True)
        check_limits_free(name, limits)
    await tx.fetch("add_queues", to_json([{"name": name} for name in declared]))
    changed = []
    for row in await tx.fetch("lock_queues_named", to_json(list(declared))):
        before = _record(row)
        limits = declared[before.name]
        if before.declared == limits:
            continue
        lifted = {field: getattr(QueueLimits(), field) for field in before.declared or {}}
        after = msgspec.structs.replace(before, limits=_merged(before.limits, {**lifted, **limits}), declared=limits)
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


async def queues_after(tx: Tx, name: str, limit: int, like: str | None = None) -> Slice[QueueRecord]:
    """Return a page of the queues, by name: those that follow this one and hold the text `like`, in whatever case."""
    if like is None:
        rows = await tx.fetch("queues_after", name, limit + 1)
    else:
        rows = await tx.fetch("queues_named_like", name, like, limit + 1)
    found = fit_page(keyed(rows, "id"), limit)
    return found.of(await queues_by_id(tx, found.items))


async def queues_by_id(tx: Tx, ids: Iterable[int]) -> list[QueueRecord]:
    """Return the queues with these ids, by name."""
    return [_record(row) for row in await tx.fetch("queues_by_id", to_json(list(ids)))]


async def add_queue(tx: Tx, name: str) -> None:
    """Create a queue if it does not exist."""
    check_name("queue", name, required=True)
    await tx.fetch("add_queues", to_json([{"name": name}]))


def _merged(limits: QueueLimits, changes: Mapping[str, Any]) -> QueueLimits:
    """Merge and validate limits before they are written: limits that cannot be read back would stop every claim."""
    try:
        merged = msgspec.convert(msgspec.to_builtins(limits) | dict(changes), QueueLimits)
    except msgspec.ValidationError as error:
        raise InvalidInput(Rule("invalid_limits", error=error), field="limits") from error
    unknown = changes.keys() - set(QueueLimits.__struct_fields__)
    if unknown:
        raise InvalidInput(
            Rule("unknown_limits", known=QueueLimits.__struct_fields__, got=sorted(unknown)),
            field="limits",
        )
    numbers = [merged.max_concurrent, merged.max_per_key, *merged.roles.values(), *merged.keys.values()]
    if min(numbers) < NO_LIMIT:
        raise InvalidInput(Rule("limits_negative", got=min(numbers), none=NO_LIMIT), field="limits")
    return merged


def _record(row: Any) -> QueueRecord:
    declared = None if row["declared"] is None else msgspec.json.decode(row["declared"])
    return QueueRecord(row["id"], row["name"], bool(row["paused"]), _limits.decode(row["limits"]), declared)


_LEAST_US = 86_400 * 1_000_000
"""At least a day, whatever the retention: transactions that used the queue when its owner went have long ended."""
_QUEUES_A_STEP = 50
_DEPENDENT_ROWS = ("drop_tallies", "drop_timings", "drop_queue_batches", "drop_lanes")


async def leave_queues(tx: Tx, names: Collection[str]) -> None:
    """Mark queues as orphaned: their owners are deleted in this transaction."""
    await tx.fetch("mark_orphaned_queues", to_json(sorted(names)), True)


async def take_up_queue(tx: Tx, name: str) -> None:
    """Unmark a queue that has an owner again: the request that created the first one was repeated."""
    await tx.fetch("mark_orphaned_queues", to_json([name]), False)


async def keep_queues(tx: Tx, lanes: LaneCache, numbers: Collection[int]) -> set[int]:
    """Return those of the lanes whose queue has lost its owner; of the others none loses it before the commit.

    Before any lock on their jobs, as a claim does.
    """
    await lanes.learn(tx, numbers)
    # No other queue has an owner, and a lock on one that has limits keeps its claims waiting.
    owned = {queue_of(number) for number in numbers if reserved_prefix(lanes.name(number).queue) is not None}
    rows = await tx.fetch("keep_queues", to_json(sorted(owned))) if owned else []
    left = {row["id"] for row in rows if row["left_at"] is not None}
    return {number for number in numbers if queue_of(number) in left}


async def count_left_queues(tx: Tx, older_than_us: int, going: Mapping[int, int]) -> int:
    """Count the queues that can be dropped once `going` jobs of each, by queue id, are deleted."""
    left = await tx.fetch("long_orphaned_queues", _age_us(older_than_us))
    if not left:
        return 0
    jobs = await stocks(tx)
    return sum(sum(all_states(jobs[row["name"]]).values()) == going.get(row["id"], 0) for row in left)


async def drop_left_queues(tx: Tx, older_than_us: int) -> int:
    """Delete some queues that were orphaned that long ago, with their lanes and tallies; return how many.

    Only their owners enqueued jobs into them, and those are gone, so the lanes that instances have cached are unused. A
    claim never waits for this: it finds a queue by its jobs, and there are none.
    """
    rows = await tx.fetch("orphaned_queues", _age_us(older_than_us), _QUEUES_A_STEP)
    if rows:
        gone = to_json([row["id"] for row in rows])
        for statement in (*_DEPENDENT_ROWS, "drop_queues"):
            await tx.fetch(statement, gone)
    return len(rows)


def _age_us(older_than_us: int) -> int:
    return max(older_than_us, _LEAST_US)
