"""Puts declared schedules in force when a worker starts, and after a reload."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import uuid_utils

from hanbeon.errors import InvalidInput
from hanbeon.logs import get_logger
from hanbeon.store.operations.instances import instances
from hanbeon.store.store import Store
from hanbeon.surfaces.schedules.declaration import Declaration
from hanbeon.surfaces.schedules.declaration_rows import (
    DeclarationOutcome,
    DeclarationResult,
    declare_schedule,
    declared_schedules,
)

_log = get_logger("hanbeon.engine")
_STAYS = "it continues as it is; `hanbeon schedule delete` ends it"
_NOBODY = f"no live worker declares it now; {_STAYS}"
_NO_LONGER = f"the file declared it before; {_STAYS}"


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
        new_id = str(uuid_utils.uuid7())
        try:
            done = await self._store.write(lambda tx: declare_schedule(tx, declaration, new_id, by))
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
