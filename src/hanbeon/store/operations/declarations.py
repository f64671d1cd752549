"""Declared schedules: made, adopted or changed where they are declared otherwise than last."""

from __future__ import annotations

import enum
from typing import NamedTuple

import msgspec

from hanbeon.domain.schedules.declaration import Declaration, InForce, changed_fields, overridden, reconciled
from hanbeon.errors import ScheduleNameTaken, UnknownTask
from hanbeon.store.operations.queries import now_us
from hanbeon.store.operations.schedules import (
    ScheduleRecord,
    add_schedule,
    change_schedule,
    schedule_record,
    schedules_named,
)
from hanbeon.store.operations.tasks import find_tasks
from hanbeon.store.tx import Tx


class DeclarationOutcome(enum.StrEnum):
    """What a declaration did."""

    SAME = "same"
    """Nothing: it was declared so before."""
    MADE = "made"
    ADOPTED = "adopted"
    """A schedule of its name was there. It is as it was; from now on changes of the declaration change it."""
    CHANGED = "changed"
    REVIVED = "revived"
    """Somebody had deleted it, and it is declared otherwise since."""


class DeclarationResult(NamedTuple):
    """What a declaration did, to which fields, and the schedule afterwards."""

    outcome: DeclarationOutcome
    schedule: ScheduleRecord
    fields: list[str]


async def declared_schedules(tx: Tx) -> list[ScheduleRecord]:
    """All that were ever declared, also those that were deleted since."""
    return [schedule_record(row) for row in await tx.fetch("declared_schedules")]


async def declare_schedule(tx: Tx, declared: Declaration, new_id: str, by: str) -> DeclarationResult:
    """Put a declaration in force where it says something else than the last one of that name.

    Whoever declares the same again changes nothing, so what an operator changed since stays.
    """
    found = await schedules_named(tx, [declared.name])
    if not found:
        try:
            return DeclarationResult(
                DeclarationOutcome.MADE, await _make(tx, declared, new_id, by), sorted(declared.said)
            )
        except ScheduleNameTaken:  # By another instance, just now: its row can be seen and locked since it committed.
            found = await schedules_named(tx, [declared.name])
    (schedule,) = found
    if schedule.declared is None:
        adopted = await change_schedule(tx, schedule, msgspec.structs.replace(schedule, declared=dict(declared.said)))
        return DeclarationResult(DeclarationOutcome.ADOPTED, adopted, overridden(declared.said, _in_force(adopted)))
    fields = changed_fields(schedule.declared, declared.said)
    if not fields:
        return DeclarationResult(DeclarationOutcome.SAME, schedule, [])
    deleted = schedule.deleted_at is not None
    after = declared.whole if deleted else reconciled(_in_force(schedule), declared, fields)
    changed = msgspec.structs.replace(
        schedule,
        task_id=await _task_id(tx, after.task) if after.task != schedule.task else schedule.task_id,
        task=after.task,
        definition=after.definition,
        paused=after.paused,
        declared=dict(declared.said),
        deleted_at=None,
    )
    outcome = DeclarationOutcome.REVIVED if deleted else DeclarationOutcome.CHANGED
    return DeclarationResult(outcome, await change_schedule(tx, schedule, changed), sorted(fields))


async def _make(tx: Tx, declared: Declaration, new_id: str, by: str) -> ScheduleRecord:
    whole, now = declared.whole, await now_us(tx)
    new = ScheduleRecord(
        id=new_id,
        name=declared.name,
        task_id=await _task_id(tx, whole.task),
        task=whole.task,
        definition=whole.definition,
        paused=whole.paused,
        considered_to=now,
        timed_since=now,
        declared=dict(declared.said),
        created_by=by,
    )
    return await add_schedule(tx, new)


async def _task_id(tx: Tx, task: str) -> int:
    found = await find_tasks(tx, [task])
    if not found:
        raise UnknownTask(
            f"there is no task {task[:80]!r} yet; a task is known once a worker that has it has started",
            field="task_id",
        )
    return found[0].id


def _in_force(schedule: ScheduleRecord) -> InForce:
    return InForce(schedule.task, schedule.definition, schedule.paused)
