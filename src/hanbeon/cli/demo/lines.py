"""The demo's events as lines of text."""

from __future__ import annotations

import datetime as dt

from rich.text import Text

from hanbeon.cli.demo.board import Board, BoardLine
from hanbeon.cli.output import STATE_STYLES
from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State

_REASON_STYLES = {Reason.RETRIED: "bold red", Reason.OVERDUE: "bold red"}


def event_line(line: BoardLine, zone: dt.tzinfo) -> Text:
    """Return the event's time, id, type, agent, job title and details."""
    event = line.event
    at = dt.datetime.fromtimestamp(event.at / 1_000_000, zone).strftime("%H:%M:%S.%f")[:-3]
    reason = Reason(event.type)
    style = _REASON_STYLES.get(reason) or STATE_STYLES[LIFECYCLE[reason].target or State.RUNNING]
    return Text.assemble(
        (at, "dim"),
        (f" {event.id:>5} ", "dim"),
        (f"{event.type:<10} ", style),
        (f"{line.agent:<10}", "bold"),
        line.title,
        (_details(line), "dim"),
    )


def _details(line: BoardLine) -> str:
    details = line.event.details
    words = [f"attempt {line.event.attempt}"] if line.event.attempt else []
    if "failure_type" in details:
        words.append(f"{details['failure_type']}: {details['message']}")
    return f"  {', '.join(words)}" if words else ""


def closing_line(board: Board) -> Text:
    """Return the totals of all releases."""
    counted = board.counted
    created = counted[Reason.ENQUEUED] + counted[Reason.SCHEDULED]
    failed = counted[Reason.FAILED] + counted[Reason.DEPENDENCY_FAILED]
    releases = f"{board.release} release{'s' * (board.release != 1)}"
    return Text(
        f"{releases}, {created} jobs: {counted[Reason.SUCCEEDED]} succeeded, {failed} failed, "
        f"{counted[Reason.CANCELLED] + counted[Reason.STOPPED]} cancelled\n"
        f"{counted[Reason.CLAIMED]} attempts, {counted[Reason.RETRIED]} of them retried ({board.timeouts} after a "
        f"timeout), in {board.seconds:.1f} s"
    )
