"""Formats an event as a line of text."""

from __future__ import annotations

import datetime as dt
from typing import Any

import msgspec
from rich.text import Text

from hanbeon.cli.output import STATE_STYLES, brief
from hanbeon.clock import MICROS, iso
from hanbeon.domain.events import Event
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.quotation import plain
from hanbeon.surfaces.engine.events import translated
from hanbeon.surfaces.engine.schemas import EngineEvent

_STYLES = {Reason.RETRIED.value: "bold red", Reason.OVERDUE.value: "bold red"}
_WIDEST = max(len(reason) for reason in Reason)
_NO_JOB = "-" * 36


def body_of(event: Event, zone: dt.tzinfo) -> EngineEvent:
    """Return an event as the API does; those that are no moves of jobs, which it leaves out, with the same fields."""
    kind: Any = event.type
    job: Any = event.job_id
    return translated(event, zone) or EngineEvent(
        id=event.id,
        type=kind,
        queue=event.queue,
        job_id=job,
        task=event.task,
        state=event.state,
        attempt=event.attempt,
        details=event.details,
        timestamp=iso(event.at, zone, "milliseconds") or "",
    )


def event_line(event: EngineEvent, took: int | None) -> Text:
    """Return the event's id, time, type, job, queue, task and details."""
    style = _STYLES.get(event.type) or STATE_STYLES[event.state or State.PENDING]
    line = Text.assemble(
        (f"{event.id:>7} ", "dim"),
        (event.timestamp, "dim"),
        "  ",
        (f"{event.type:<{_WIDEST}}", style),
        f"  {event.job_id or _NO_JOB}  ",
        (plain(event.queue), "bold"),
        f" {plain(event.task)}" if event.task else "",
        (_details(event, took), "dim"),
        no_wrap=True,
    )
    line.rstrip()
    return line


def _details(event: EngineEvent, took: int | None) -> str:
    words = [f"attempt {event.attempt}"] if event.attempt else []
    if took is not None:
        words.append(f"{'waited' if event.type == Reason.CLAIMED else 'took'} {brief(took / MICROS)}")
    if event.details:
        words.append(plain(msgspec.json.encode(event.details).decode()))
    return f"  {', '.join(words)}" if words else ""
