"""Schedules, fires and executions as people read them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import msgspec
from rich.text import Text

from hanbeon.cli.output import STATE_STYLES, Cell
from hanbeon.domain.phases import STATES
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.vocabulary import STATUS, ExecutionStatus

_FRACTION = re.compile(r"\.\d+")
_STYLES: dict[ExecutionStatus, str] = {}
for _phase, _word in STATUS.items():  # The first phase of a status is the one that it is named after.
    _STYLES.setdefault(_word, STATE_STYLES[STATES[_phase]])
SCHEDULE_HEADINGS = ("schedule", "task", "when", "next fire", "last fire", "notes")
FIRE_HEADINGS = ("fire", "outcome", "reason", "execution", "recorded")
EXECUTION_HEADINGS = ("execution", "task", "type", "status", "scheduled", "started", "ended", "retries", "note")


def to_seconds(moment: str | None) -> str:
    """A moment for a table."""
    return "" if moment is None else _FRACTION.sub("", moment)


def title(schedule: schemas.Schedule) -> str:
    return schedule.name or schedule.id


def notes(schedule: schemas.Schedule, live: Collection[str] | None) -> list[str]:
    """What is worth knowing of it. `live` are the names that live workers declare; None if there is no such worker."""
    said = ["paused"] if schedule.paused else []
    if schedule.next_fire_at is None and not schedule.paused:
        said.append("fires no more")
    if schedule.waiting:
        said.append(f"{len(schedule.waiting)} waiting")
    if schedule.declared:
        said.append("declared")
        if schedule.overridden:
            said.append(f"overridden: {', '.join(schedule.overridden)}")
        if live is not None and schedule.name not in live:
            said.append("no live worker declares it")
    return said


def schedule_row(schedule: schemas.Schedule, zone: str, live: Collection[str] | None) -> list[Cell]:
    when = schedule.cron or to_seconds(schedule.run_at)
    if schedule.cron and schedule.timezone != zone:
        when += f" {schedule.timezone}"
    fires = (to_seconds(schedule.next_fire_at), to_seconds(schedule.last_fire_at))
    return [title(schedule), schedule.task_id, when, *fires, "; ".join(notes(schedule, live))]


def schedule_facts(schedule: schemas.Schedule, live: Collection[str] | None) -> list[tuple[str, str | None]]:
    """Everything that it says, what says nothing left out."""
    shown: list[tuple[str, str | None]] = []
    for name, value in msgspec.structs.asdict(schedule).items():
        if name in ("declared", "overridden", "paused", "waiting") or value is None or value in (0.0, {}):
            continue
        shown.append((name, msgspec.json.encode(value).decode() if isinstance(value, dict) else str(value)))
    return [*shown, ("waiting", ", ".join(schedule.waiting)), ("notes", "; ".join(notes(schedule, live)))]


def fire_row(fire: schemas.Fire) -> list[Cell]:
    reason = fire.reason.value if fire.reason is not None else ""
    if fire.more:
        reason += f" (and {fire.more} before it)"
    return [
        to_seconds(fire.fire_at),
        fire.outcome.value,
        reason.strip(),
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
