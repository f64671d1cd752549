"""Formats an event as a line of text."""

from __future__ import annotations

import datetime as dt

import msgspec
from rich.text import Text

from hanbeon.cli.formats import brief, iso
from hanbeon.cli.output import STATE_STYLES
from hanbeon.clock import MICROS
from hanbeon.domain.events import Event
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.quotation import plain

_STYLES = {Reason.RETRIED.value: "bold red", Reason.OVERDUE.value: "bold red"}
_WIDEST = max(len(reason) for reason in Reason)
_NO_JOB = "-" * 36


def event_line(event: Event, zone: dt.tzinfo) -> Text:
    """Return the event's id, time, type, job, queue, task and details."""
    style = _STYLES.get(event.type) or STATE_STYLES[event.state or State.PENDING]
    line = Text.assemble(
        (f"{event.id:>7} ", "dim"),
        (iso(event.at, zone, "milliseconds") or "", "dim"),
        "  ",
        (f"{event.type:<{_WIDEST}}", style),
        f"  {event.job_id or _NO_JOB}  ",
        (plain(event.queue), "bold"),
        f" {plain(event.task)}" if event.task else "",
        (_details(event), "dim"),
        no_wrap=True,
    )
    line.rstrip()
    return line


def _details(event: Event) -> str:
    words = [f"attempt {event.attempt}"] if event.attempt else []
    if event.took is not None:
        words.append(f"{'waited' if event.type == Reason.CLAIMED else 'took'} {brief(event.took / MICROS)}")
    if event.details:
        words.append(plain(msgspec.json.encode(event.details).decode()))
    return f"  {', '.join(words)}" if words else ""
