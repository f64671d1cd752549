"""Audit of schedules: their histories and executions, as a part of `hanbeon verify`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.audit.findings import Finding
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.fire_audit import Expected, FireFacts, ScheduleFacts, ScheduleInvariant, audit_schedule

_SCHEDULES_A_PAGE = 200
_definition = msgspec.json.Decoder(Definition)


class ScheduleCase(NamedTuple):
    """The records of a schedule's latest times."""

    schedule: ScheduleFacts
    expected: Expected
    fires: list[FireFacts]


async def pruned_before(tx: Tx) -> int:
    """Return the instant before which records and ended jobs may have been pruned."""
    return int((await tx.fetch("audit_pruned"))[0]["before"])


async def schedule_cases(tx: Tx, after: str, pruned: int) -> list[ScheduleCase]:
    """Return the next page of schedules after an id."""
    schedules = [_schedule(row) for row in await tx.fetch("audit_schedules", after, _SCHEDULES_A_PAGE)]
    expected = {each.id: Expected.of(each, pruned) for each in schedules}
    ranges = [{"id": each.id, "low": expected[each.id].start(each)} for each in schedules]
    rows = await tx.fetch("audit_fires", to_json(ranges)) if ranges else []
    fires = {
        schedule_id: [_fire(row) for row in group]
        for schedule_id, group in groupby(rows, key=lambda row: str(row["schedule_id"]))
    }
    return [ScheduleCase(each, expected[each.id], fires.get(each.id, [])) for each in schedules]


async def fire_causes(tx: Tx, pruned: int) -> list[dict[str, Any]]:
    """Return fires and executions that do not match one to one."""
    names = ("kind", "schedule_id", "fire_at", "execution_id", "at")
    return [{name: row[name] for name in names} for row in await tx.fetch("audit_fire_causes", pruned)]


async def overlapping_executions(tx: Tx) -> list[dict[str, Any]]:
    """Return attempts that overlap another of their task, although their executions must run alone."""
    rows = await tx.fetch("audit_alone")
    return [
        {"job_id": str(row["id"]), **{name: row[name] for name in ("task", "attempt", "started_at", "until")}}
        for row in rows
    ]


def _schedule(row: Any) -> ScheduleFacts:
    return ScheduleFacts(
        id=str(row["id"]),
        timing=_definition.decode(row["definition"]).timing,
        considered_to=row["considered_to"],
        timed_since=row["timed_since"],
        due_at=row["due_at"],
        waiting=[] if row["waiting"] is None else msgspec.json.decode(row["waiting"], type=list[int]),
    )


def _fire(row: Any) -> FireFacts:
    names = FireFacts.__struct_fields__
    return msgspec.convert({name: row[name] for name in names}, FireFacts, strict=False)


_BEFORE_ALL = "00000000-0000-0000-0000-000000000000"
_CAUSES = {
    "no_execution": (ScheduleInvariant.EXECUTION_KEPT, "a fire created an execution that does not exist"),
    "no_fire": (ScheduleInvariant.FIRE_KEPT, "an execution has no entry in the history of its schedule"),
    "doubled": (ScheduleInvariant.ONE_EXECUTION, "one fire created several executions"),
    "outdated": (ScheduleInvariant.IN_FORCE, "it fired from a definition that was no longer in force"),
}


async def verify_schedules(tx: Tx, now: int) -> Audited:
    """Check every schedule with its latest times, and every execution."""
    pruned = await pruned_before(tx)
    schedules, findings, after = 0, list[Finding](), _BEFORE_ALL
    while page := await schedule_cases(tx, after, pruned):
        for case in page:
            findings += audit_schedule(case.schedule, case.expected, case.fires, now)
        schedules += len(page)
        after = page[-1].schedule.id
    findings += _causes(await fire_causes(tx, pruned))
    findings += _overlaps(await overlapping_executions(tx))
    return Audited({"schedules": schedules}, findings)


def _causes(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for (kind, schedule_id, _), group in groupby(
        rows, key=lambda row: (row["kind"], row["schedule_id"], row["fire_at"])
    ):
        found = tuple(group)
        rule, message = _CAUSES[kind]
        yield rule.broken(message, job_id=found[0]["execution_id"], schedule_id=schedule_id, rows=found)


def _overlaps(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for row in rows:
        message = f"it began before another execution of {row['task']!r} had ended"
        yield ScheduleInvariant.ALONE.broken(message, job_id=row["job_id"], rows=(row,))


AUDIT = SurfaceAudit(verify_schedules, (*ScheduleInvariant,))
