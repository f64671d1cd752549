"""Audit of schedules: their histories and executions, as a part of `hanbeon verify`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from hanbeon.domain.audit.findings import Finding
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules import audit_rows as audit
from hanbeon.surfaces.schedules.fire_audit import ScheduleCode, audit_schedule

_BEFORE_ALL = "00000000-0000-0000-0000-000000000000"
_CAUSES = {
    "no_execution": (ScheduleCode.LOST_FIRE, "a fire created an execution that does not exist"),
    "no_fire": (ScheduleCode.LOST_FIRE, "an execution has no entry in the history of its schedule"),
    "doubled": (ScheduleCode.DOUBLED_FIRE, "one fire created several executions"),
    "outdated": (ScheduleCode.WRONG_FIRE, "it fired from a definition that was no longer in force"),
}


async def verify_schedules(tx: Tx, now: int) -> Audited:
    """Check every schedule with its latest times, and every execution."""
    pruned = await audit.pruned_before(tx)
    schedules, findings, after = 0, list[Finding](), _BEFORE_ALL
    while page := await audit.schedule_cases(tx, after, pruned):
        for case in page:
            findings += audit_schedule(case.schedule, case.expected, case.fires, now)
        schedules += len(page)
        after = page[-1].schedule.id
    findings += _causes(await audit.fire_causes(tx, pruned))
    findings += _overlaps(await audit.overlapping_executions(tx))
    return Audited({"schedules": schedules}, findings)


def _causes(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for (kind, schedule_id, _), group in groupby(
        rows, key=lambda row: (row["kind"], row["schedule_id"], row["fire_at"])
    ):
        found = tuple(group)
        code, message = _CAUSES[kind]
        yield Finding(code=code, message=message, job_id=found[0]["execution_id"], schedule_id=schedule_id, rows=found)


def _overlaps(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    for row in rows:
        message = f"it began before another execution of {row['task']!r} had ended"
        yield Finding(code=ScheduleCode.OVERLAPPING_EXECUTIONS, message=message, job_id=row["job_id"], rows=(row,))


AUDIT = SurfaceAudit(verify_schedules, (*ScheduleCode,))
