"""Schedules: create, change, declare and delete. A change and a fire of the same schedule never overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.job import is_id
from hanbeon.domain.lifecycle import State
from hanbeon.domain.timing.fire_times import jitter_of
from hanbeon.errors import Changed
from hanbeon.rule import Rule
from hanbeon.store.operations.pages import Slice, fit_page, keyed
from hanbeon.store.operations.queries import now_us
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.errors import ScheduleDeclared, ScheduleNameTaken, ScheduleNotFound
from hanbeon.surfaces.schedules.fire_rows import FireLine, write_fires
from hanbeon.surfaces.schedules.misfire import Misfire, plan
from hanbeon.surfaces.schedules.vocabulary import FireOutcome, FireReason

_definition = msgspec.json.Decoder(Definition)
_LAST = 2**63 - 1
_BEFORE_ALL = "00000000-0000-0000-0000-000000000000"


class ScheduleRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored schedule. Instants are microseconds since 1970 UTC."""

    id: str
    name: str | None
    task_id: int
    task: str
    definition: Definition
    paused: bool
    considered_to: int
    timed_since: int
    next_fire_at: int | None = None
    due_at: int | None = None
    last_fire_at: int | None = None
    waiting: list[int] = msgspec.field(default_factory=list)
    declared: dict[str, Any] | None = None
    deleted_at: int | None = None
    version: int = 1
    created_by: str = ""
    created_at: int = 0
    changed_at: int = 0


class FireRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded outcome of one fire."""

    fire_at: int
    outcome: FireOutcome
    reason: FireReason | None
    execution_id: str | None
    more: int
    recorded_at: int
    state: State | None
    """That of its execution, while that is kept."""


class LastExecution(NamedTuple):
    """The last execution of a schedule that has ended."""

    id: str
    state: State


async def last_executions(tx: Tx, schedule_ids: Sequence[str]) -> dict[str, LastExecution]:
    """Return that of each of these schedules, if any has ended and is kept."""
    rows = await tx.fetch("last_executions", to_json([{"id": each} for each in schedule_ids])) if schedule_ids else ()
    return {row["schedule_id"]: LastExecution(row["id"], State(row["state"])) for row in rows}


async def add_schedule(tx: Tx, new: ScheduleRecord) -> ScheduleRecord:
    """Create a schedule; it fires from now on. A name that is taken is refused, except by a repeated request."""
    now = await now_us(tx)
    new = timed(msgspec.structs.replace(new, considered_to=now), now)
    for old in await schedules_named(tx, [new.name] if new.name is not None else []):
        if old.id == new.id:
            return old
        if old.deleted_at is None:
            raise ScheduleNameTaken(old.name or "")
        await tx.fetch("delete_schedule", old.id)  # Only its name was kept.
    made = await tx.fetch(
        "add_schedule",
        new.id,
        new.name,
        new.task_id,
        to_json(new.definition),
        new.paused,
        now,
        new.next_fire_at,
        new.due_at,
        None if new.declared is None else to_json(new.declared),
        new.created_by,
    )
    if not made:
        same = await tx.fetch("schedule_by_id", new.id)
        if not same:
            raise ScheduleNameTaken(new.name or "")
        return schedule_record(same[0])  # A repeated request: the id is derived from the request's key.
    tx.wake("fire")
    return await schedule_by_id(tx, new.id)


async def find_schedule(tx: Tx, schedule_id: str) -> ScheduleRecord | None:
    """Return the schedule that an earlier request created with this id, if any."""
    rows = await tx.fetch("schedule_by_id", schedule_id)
    return schedule_record(rows[0]) if rows else None


async def schedule_by_id(tx: Tx, schedule_id: str) -> ScheduleRecord:
    rows = await tx.fetch("schedule_by_id", schedule_id) if is_id(schedule_id) else []
    found = [schedule_record(row) for row in rows]
    if not found or found[0].deleted_at is not None:
        raise ScheduleNotFound(schedule_id)
    return found[0]


async def lock_schedule(tx: Tx, schedule_id: str, expected: int | None = None) -> ScheduleRecord:
    """Return the schedule, locked for a change: it does not fire in the meantime."""
    rows = await tx.fetch("lock_schedule", schedule_id) if is_id(schedule_id) else []
    found = [schedule_record(row) for row in rows]
    if not found or found[0].deleted_at is not None:
        raise ScheduleNotFound(schedule_id)
    if expected is not None and found[0].version != expected:
        raise Changed(Rule("schedule_version", schedule=schedule_id, version=found[0].version, expected=expected))
    return found[0]


async def schedules_named(tx: Tx, names: Sequence[str]) -> list[ScheduleRecord]:
    """Return the schedules with these names, including deleted ones, locked."""
    return [schedule_record(row) for row in await tx.fetch("schedules_named", to_json(names))] if names else []


async def schedules(
    tx: Tx,
    after: str | None,
    limit: int,
    *,
    task: str | None = None,
    paused: bool | None = None,
    name: str | None = None,
) -> Slice[ScheduleRecord]:
    """Return a page of schedules in the order of their ids. The most selective filter determines the index."""
    start, most = _BEFORE_ALL if after is None else after, limit + 1
    if name is not None:
        rows = await tx.fetch("schedule_of_name", start, most, paused, task, name)
    elif task is not None:
        rows = await tx.fetch("schedules_of_task", start, most, paused, task)
    elif paused:
        rows = await tx.fetch("schedules_paused", start, most)
    else:
        rows = await tx.fetch("schedules", start, most, paused)
    page: Slice[str] = fit_page(keyed(rows, "id"), limit)
    ids = to_json([str(schedule_id) for schedule_id in page.items])
    return page.of([schedule_record(row) for row in (await tx.fetch("schedules_by_id", ids) if page.items else ())])


async def change_schedule(tx: Tx, before: ScheduleRecord, after: ScheduleRecord) -> ScheduleRecord:
    """Write the new values of a locked schedule.

    If its times change or it is paused, it continues from now: fires that were due by the old definition and not
    processed are recorded as missed, and no execution is created from a definition that is no longer in force.
    """
    now = await now_us(tx)
    times_change = before.definition.timing != after.definition.timing
    reason = _why(before, after, times_change)
    if reason is not None:
        await _pass_over(tx, before, now, reason)
        after = msgspec.structs.replace(after, considered_to=max(now, before.considered_to), waiting=[])
        after = msgspec.structs.replace(after, timed_since=after.considered_to)
        after = timed(after, now)
    if before.declared is not None and after.name != before.name:
        raise ScheduleDeclared(before.name)
    if after.name is not None and after.name != before.name:
        for other in await schedules_named(tx, [after.name]):
            if other.deleted_at is None:
                raise ScheduleNameTaken(after.name)
            await tx.fetch("delete_schedule", other.id)
    await tx.fetch(
        "change_schedule",
        after.id,
        after.name,
        after.task_id,
        to_json(after.definition),
        after.paused,
        after.considered_to,
        after.timed_since,
        after.next_fire_at,
        after.due_at,
        to_json(after.waiting) if after.waiting else None,
        None if after.declared is None else to_json(after.declared),
        after.deleted_at,
    )
    tx.wake("fire")
    return schedule_record((await tx.fetch("schedule_by_id", after.id))[0])


async def delete_schedule(tx: Tx, schedule_id: str, expected: int | None = None) -> None:
    """Remove a schedule. Its executions and its history stay until they are pruned."""
    schedule = await lock_schedule(tx, schedule_id, expected)
    now = await now_us(tx)
    if schedule.declared is not None:
        gone = msgspec.structs.replace(schedule, deleted_at=now)
        await change_schedule(tx, schedule, gone)
        return
    await _pass_over(tx, schedule, now, FireReason.DELETED)
    await tx.fetch("delete_schedule", schedule.id)


async def fires(
    tx: Tx, schedule_id: str, before: int | None, limit: int, outcome: FireOutcome | None = None
) -> list[FireRecord]:
    """The history of a schedule, the newest first; go on before the last one's `fire_at`."""
    rows = await tx.fetch("fires_of", schedule_id, _LAST if before is None else before, outcome, limit)
    return [
        msgspec.convert({name: row[name] for name in FireRecord.__struct_fields__}, FireRecord, strict=False)
        for row in rows
    ]


def timed(schedule: ScheduleRecord, now: int) -> ScheduleRecord:
    """The schedule with its next fire behind all that has been considered; with none while it is paused or deleted."""
    stopped = schedule.paused or schedule.deleted_at is not None
    fire = None if stopped else schedule.definition.timing.next_fire(max(schedule.considered_to, now))
    if fire is None:
        return msgspec.structs.replace(schedule, next_fire_at=None, due_at=None)
    jitter = jitter_of(schedule.id, fire.at, schedule.definition.timing.jitter_us)
    return msgspec.structs.replace(schedule, next_fire_at=fire.at, due_at=fire.at + jitter)


def _why(before: ScheduleRecord, after: ScheduleRecord, times_change: bool) -> FireReason | None:
    """Return why a change affects the fires, or None."""
    if after.deleted_at is not None and before.deleted_at is None:
        return FireReason.DELETED
    if after.paused and not before.paused:
        return FireReason.PAUSED
    revived = before.deleted_at is not None and after.deleted_at is None
    if times_change or revived or (before.paused and not after.paused):
        return FireReason.CHANGED
    return None


async def _pass_over(tx: Tx, schedule: ScheduleRecord, now: int, reason: FireReason) -> None:
    """Record as missed the fires that were due until now, and those that waited. Of very many, the last and a count."""
    if schedule.deleted_at is not None:
        return
    missed = dict.fromkeys(schedule.waiting, 0)
    if not schedule.paused:
        found = plan(schedule.definition.timing, schedule.considered_to, now, Misfire.SKIP, 0, -1)
        missed |= {each.at: 0 for each in found.fires}
        if found.dropped is not None:
            missed[found.dropped.first] = found.dropped.count - 1
    await write_fires(
        tx,
        [
            FireLine(schedule_id=schedule.id, fire_at=at, outcome=FireOutcome.MISSED, reason=reason, more=more)
            for at, more in sorted(missed.items())
        ],
    )


def schedule_record(row: Any) -> ScheduleRecord:
    values = {name: row[name] for name in ScheduleRecord.__struct_fields__}
    values |= {
        "id": str(row["id"]),
        "definition": _definition.decode(row["definition"]),
        "waiting": [] if row["waiting"] is None else msgspec.json.decode(row["waiting"]),
        "declared": None if row["declared"] is None else msgspec.json.decode(row["declared"]),
    }
    return msgspec.convert(values, ScheduleRecord, strict=False)
