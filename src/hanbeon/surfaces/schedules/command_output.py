"""Schedules, fires and executions as text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from rich.text import Text

from hanbeon.cli.output import STATE_STYLES, Cell, brief, to_seconds
from hanbeon.domain.lifecycle import STATES
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.vocabulary import STATUS, ExecutionStatus

_STYLES: dict[ExecutionStatus, str] = {}
for _phase, _word in STATUS.items():  # The first phase of a status is the one that it is named after.
    _STYLES.setdefault(_word, STATE_STYLES[STATES[_phase]])
SCHEDULE_HEADINGS = ("schedule", "task", "when", "next fire", "last fire", "last run", "notes")
PREVIEW_HEADINGS = ("next fires", "notes")
FIRE_HEADINGS = ("fire", "outcome", "reason", "status", "execution", "recorded")
EXECUTION_HEADINGS = ("execution", "task", "type", "status", "scheduled", "started", "ended", "retries", "note")


def title(schedule: schemas.Schedule) -> str:
    return schedule.name or schedule.id


def next_fire_text(schedule: schemas.Schedule) -> str:
    if schedule.paused:
        return f"{title(schedule)}: paused"
    when = to_seconds(schedule.next_fire_at)
    return f"{title(schedule)}: fires next at {when}" if when else f"{title(schedule)}: does not fire any more"


def notes(schedule: schemas.Schedule, live: Collection[str] | None) -> list[str]:
    """Remarks on a schedule. `live` are the names that live workers declare; None if no worker is alive."""
    remarks = ["paused"] if schedule.paused else []
    if schedule.next_fire_at is None and not schedule.paused:
        remarks.append("does not fire any more")
    if schedule.waiting:
        remarks.append(f"{len(schedule.waiting)} waiting")
    if schedule.declared:
        remarks.append("declared")
        if schedule.overridden:
            remarks.append(f"overridden: {', '.join(schedule.overridden)}")
        if live is not None and schedule.name not in live:
            remarks.append("no live worker declares it")
    return remarks


def schedule_row(schedule: schemas.Schedule, zone: str, live: Collection[str] | None) -> list[Cell]:
    when = schedule.cron or (f"every {brief(schedule.every)}" if schedule.every else to_seconds(schedule.run_at))
    if schedule.cron and schedule.timezone != zone:
        when += f" {schedule.timezone}"
    fires = (to_seconds(schedule.next_fire_at), to_seconds(schedule.last_fire_at))
    return [
        title(schedule),
        schedule.task_id,
        when,
        *fires,
        _status(schedule.last_status),
        "; ".join(notes(schedule, live)),
    ]


def _status(status: ExecutionStatus | None) -> Cell:
    return "" if status is None else Text(status.value, style=_STYLES[status])


def schedule_facts(schedule: schemas.Schedule, live: Collection[str] | None) -> list[tuple[str, str | None]]:
    """Every field of a schedule that has a value."""
    shown: list[tuple[str, str | None]] = []
    for name, value in msgspec.structs.asdict(schedule).items():
        if name in ("declared", "overridden", "paused", "waiting") or value is None or value in (0.0, {}):
            continue
        shown.append((name, msgspec.json.encode(value).decode() if isinstance(value, dict) else str(value)))
    return [*shown, ("waiting", ", ".join(schedule.waiting)), ("notes", "; ".join(notes(schedule, live)))]


def preview_row(fire: schemas.PreviewedFire) -> list[Cell]:
    return [to_seconds(fire.at), fire.note or ""]


def fire_row(fire: schemas.Fire) -> list[Cell]:
    reason = fire.reason.value if fire.reason is not None else ""
    if fire.more:
        reason += f" (and at least {fire.more} after it)"
    return [
        to_seconds(fire.fire_at),
        fire.outcome.value,
        reason.strip(),
        _status(fire.status),
        fire.execution_id or "",
        to_seconds(fire.recorded_at),
    ]


def execution_row(execution: schemas.Execution) -> list[Any]:
    note = f"{execution.error_code}: {execution.error_message or ''}".rstrip(": ") if execution.error_code else ""
    return [
        execution.execution_id,
        execution.task_id,
        execution.type.value,
        Text(execution.status.value, _STYLES[execution.status]),
        to_seconds(execution.scheduled_at),
        to_seconds(execution.started_at),
        to_seconds(execution.ended_at),
        str(execution.retry_count),
        note,
    ]
