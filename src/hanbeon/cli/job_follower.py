"""Follows a job and its log until it ends: with a progress bar on a terminal, as lines or JSON elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hanbeon.cli.formats import brief, iso, percent
from hanbeon.cli.json_output import job_shape, log_shape
from hanbeon.cli.log_output import Printer, entry_text, print_log, print_verbatim, printer_on
from hanbeon.cli.output import STATE_STYLES, console, print_json_line
from hanbeon.cli.source.source import Source
from hanbeon.clock import MICROS
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.log import LogCut, LogEntry
from hanbeon.errors import JobCancelled, JobFailed
from hanbeon.quotation import plain

_POLL_SECONDS = 0.2
_BAR_WIDTH = 30
Show = Callable[[JobRecord], None]


class Screen(NamedTuple):
    """The functions that show a job and print its log."""

    show: Show
    print_log: Printer | None


async def follow(source: Source, job_id: str, screen: Screen) -> JobRecord:
    """Show a job until it has ended. Progress and log are not events, so they are polled."""
    after: str | None = None
    with source.arrivals() as arrived:
        while True:
            arrived.clear()
            record = await source.record(job_id)
            if screen.print_log is not None:
                # After the record: when a job has ended, its log is complete.
                after = await print_log(source, job_id, screen.print_log, after)
            screen.show(record)
            if record.state in TERMINAL:
                return record
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await arrived.wait()


def raise_unless_succeeded(record: JobRecord) -> None:
    """Raise the error that a waiter gets for a job that failed or was cancelled."""
    if record.state is State.FAILED:
        raise JobFailed(record.id, record.failure_type or "error", plain(record.error_message or ""))
    if record.state is State.CANCELLED:
        raise JobCancelled(record.id)


@contextlib.contextmanager
def bar(out: Console | None) -> Iterator[Screen]:
    """Show a job as a transient bar on stderr, if that is a terminal. Its log goes to `out`, if given."""
    err = console(stderr=True)
    if not err.is_terminal or err.is_dumb_terminal:
        yield Screen(lambda record: None, None if out is None else printer_on(out))
        return
    with Live(console=err, auto_refresh=False, transient=True) as live:
        # On the same screen the log must go above the bar, which only the bar's own console can do.
        above = live.console if out is not None and out.is_terminal else out
        yield Screen(
            lambda record: live.update(Bar(record), refresh=True), None if above is None else printer_on(above)
        )


def lines(zone: dt.tzinfo, *, json: bool) -> Screen:
    """Print a job whenever its state, attempt or progress changes, and its log."""
    out = console()
    before: list[Any] = [()]

    def show(record: JobRecord) -> None:
        now: Any = (record.state, record.fence, record.progress, record.stop_requested_at)
        if [now] == before:
            return
        before[0] = now
        if json:
            print_json_line(job_shape(record, zone))
        else:
            at = iso(record.finished_at or time.time_ns() // 1_000, zone, "milliseconds") or ""
            attempt = f"attempt {record.fence}" if record.fence else ""
            out.print(
                Text.assemble(
                    (f"{at} ", "dim"),
                    (f"{record.state:<9}", STATE_STYLES[record.state]),
                    f" {attempt}  {plain(record.progress or '')}".rstrip(),
                )
            )

    def print_lines(entries: Sequence[LogEntry]) -> None:
        for entry in entries:
            print_verbatim(out, _log_line(entry, zone))

    return Screen(show, json_printer(zone) if json else print_lines)


def json_printer(zone: dt.tzinfo) -> Printer:
    def print_entries(entries: Sequence[LogEntry]) -> None:
        for entry in entries:
            print_json_line(log_shape(entry, zone))

    return print_entries


def _log_line(entry: LogEntry, zone: dt.tzinfo) -> Text:
    """Format a log entry in the columns of the lines about the job itself."""
    if isinstance(entry, LogCut):
        return entry_text(entry)
    at = iso(entry.at, zone, "milliseconds") or ""
    return Text.assemble((f"{at} ", "dim"), (f"{entry.stream:<9} ", "dim"), entry_text(entry))


class Bar:
    """One line: the state, a bar if the progress is a percentage and its JSON otherwise, and the age."""

    def __init__(self, job: JobRecord) -> None:
        self._job = job

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        job = self._job
        grid = Table.grid(padding=(0, 1))
        until = job.finished_at or time.time_ns() // 1_000
        age = Text(brief((until - job.created_at) / MICROS), "dim")
        grid.add_row(
            Text(job.id, "dim"),
            Text(plain(job.task), "bold"),
            Text(job.state.value, STATE_STYLES[job.state]),
            *progress_cells(job),
            age,
        )
        yield grid


def progress_cells(job: JobRecord, width: int = _BAR_WIDTH) -> tuple[Any, Text]:
    """Return a bar and its label."""
    value = percent(job)
    if job.state is State.SUCCEEDED:
        value = 100.0
    if value is not None:
        return ProgressBar(100, value, width=width), Text(f"{value:3.0f}%")
    return Text(plain(job.progress or "")[:width]), Text("")
