"""Declared schedules: created, adopted or changed where the declaration differs from the last one."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from hanbeon.errors import InvalidInput, UnknownTask
from hanbeon.ids import new_id
from hanbeon.logs import get_logger
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.operations.instances import instances
from hanbeon.store.operations.queries import now_us
from hanbeon.store.operations.tasks import find_tasks
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules.declaration import Declaration, InForce, changed_fields, overridden, reconciled
from hanbeon.surfaces.schedules.errors import ScheduleNameTaken
from hanbeon.surfaces.schedules.rows import (
    ScheduleRecord,
    add_schedule,
    change_schedule,
    schedule_record,
    schedules_named,
)

_log = get_logger("hanbeon.engine")
_STAYS = "it continues as it is; `hanbeon schedule delete` ends it"
_NOBODY = f"no live worker declares it now; {_STAYS}"
_NO_LONGER = f"the file declared it before; {_STAYS}"


class DeclarationOutcome(enum.StrEnum):
    """The effect of a declaration."""

    SAME = "same"
    """None: it equals the last declaration."""
    MADE = "made"
    ADOPTED = "adopted"
    """A schedule of this name existed. It is unchanged; from now on changes of the declaration change it."""
    CHANGED = "changed"
    REVIVED = "revived"
    """An operator had deleted it, and the declaration has changed since."""


class DeclarationResult(NamedTuple):
    """The effect of a declaration, the affected fields, and the schedule afterwards."""

    outcome: DeclarationOutcome
    schedule: ScheduleRecord
    fields: list[str]


async def declared_schedules(tx: Tx) -> list[ScheduleRecord]:
    """Return all schedules that were ever declared, including deleted ones."""
    return [schedule_record(row) for row in await tx.fetch("declared_schedules")]


async def declare_schedule(tx: Tx, declared: Declaration, new_id: str, by: str) -> DeclarationResult:
    """Apply a declaration where it differs from the last one of that name.

    Repeating the same declaration changes nothing, so changes by an operator are kept.
    """
    found = await schedules_named(tx, [declared.name])
    if not found:
        try:
            return DeclarationResult(
                DeclarationOutcome.MADE, await _make(tx, declared, new_id, by), sorted(declared.fields)
            )
        except ScheduleNameTaken:  # By another instance, just now: it has committed, so its row can be locked.
            found = await schedules_named(tx, [declared.name])
    (schedule,) = found
    if schedule.declared is None:
        adopted = await change_schedule(tx, schedule, msgspec.structs.replace(schedule, declared=dict(declared.fields)))
        return DeclarationResult(DeclarationOutcome.ADOPTED, adopted, overridden(declared.fields, _in_force(adopted)))
    fields = changed_fields(schedule.declared, declared.fields)
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
        declared=dict(declared.fields),
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
        declared=dict(declared.fields),
        created_by=by,
    )
    return await add_schedule(tx, new)


async def _task_id(tx: Tx, task: str) -> int:
    found = await find_tasks(tx, [task])
    if not found:
        raise UnknownTask(
            Rule("task_not_registered_yet", task=quoted(task)),
            field="task_id",
        )
    return found[0].id


def _in_force(schedule: ScheduleRecord) -> InForce:
    return InForce(schedule.task, schedule.definition, schedule.paused)


class ScheduleDeclarer:
    """Declares each schedule once, and again only when its declaration changes.

    So an old worker that merely continues does not revert what a newer one has declared since.
    """

    def __init__(self, store: Store, declarations: Callable[[], Sequence[Declaration]]) -> None:
        self._store, self._declarations = store, declarations
        self._in_force: dict[str, Declaration] | None = None

    @property
    def names(self) -> list[str]:
        """The schedules that this worker declares."""
        return sorted(self._in_force or ())

    async def declare(self, by: str, alive_within_us: int) -> None:
        """Each in a transaction of its own. One that cannot be kept is logged, and the others go on."""
        before, after = self._in_force, {each.name: each for each in self._declarations()}
        if before == after:
            return
        there = {each.name: each for each in await self._store.read(declared_schedules)}
        for name, declaration in after.items():
            known = there.get(name)
            if known is None or known.declared != declaration.fields:
                await self._declare(declaration, by)
        self._in_force = after
        gone = {name for name, each in there.items() if name is not None and each.deleted_at is None} - set(after)
        if before is not None:
            gone &= set(before)
        elif gone:
            for instance in await self._store.read(lambda tx: instances(tx, alive_within_us)):
                gone -= set(instance.schedules) if instance.alive else set()
        for name in sorted(gone):
            reason = _NOBODY if before is None else _NO_LONGER
            _log.warning("schedule_no_longer_declared", schedule=name, reason=reason)

    async def _declare(self, declaration: Declaration, by: str) -> None:
        schedule_id = new_id()
        try:
            done = await self._store.write(lambda tx: declare_schedule(tx, declaration, schedule_id, by))
        except InvalidInput as error:
            _log.error("schedule_not_declared", schedule=declaration.name, error=str(error))
            return
        _log_declaration(done)


def _log_declaration(done: DeclarationResult) -> None:
    schedule = done.schedule
    if done.outcome is DeclarationOutcome.SAME:
        return
    if done.outcome is DeclarationOutcome.ADOPTED:
        log = _log.warning if done.fields else _log.info
        log("schedule_adopted", schedule=schedule.name, as_it_was=done.fields)
        return
    _log.info("schedule_declared", schedule=schedule.name, outcome=done.outcome.value, fields=done.fields)
    if schedule.next_fire_at is None and not schedule.paused:
        _log.warning("schedule_never_fires", schedule=schedule.name, reason="all its times are past")
