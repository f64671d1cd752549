"""Follows a job until it ends: as a bar on a terminal, as lines or JSON elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import time
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hanbeon.app import App
from hanbeon.cli.output import STATE_STYLES, console, plain, print_json_line
from hanbeon.cli.progress import percent
from hanbeon.cli.shapes import job_shape
from hanbeon.cli.spans import brief, iso
from hanbeon.clock import MICROS
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.errors import JobCancelled, JobFailed

_LOOK_SECONDS = 0.2
_BAR_WIDTH = 30
Show = Callable[[JobRecord], None]


async def follow(app: App, job_id: str, show: Show) -> JobRecord:
    """Until the job has ended; it is shown at every look. Progress is no event, so it is looked for."""
    arrived = asyncio.Event()
    with app.hub.calling(arrived.set, "event"):
        while True:
            arrived.clear()
            record = await app.job(job_id).record()
            show(record)
            if record.state in TERMINAL:
                return record
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await arrived.wait()


def refuse_unless_succeeded(record: JobRecord) -> None:
    """The error that somebody who waited for the job should get."""
    if record.state is State.FAILED:
        raise JobFailed(record.id, record.failure_type or "error", plain(record.error_message or ""))
    if record.state is State.CANCELLED:
        raise JobCancelled(record.id)


@contextlib.contextmanager
def bar() -> Iterator[Show]:
    """Shows a job as a bar on stderr, if that is a terminal; it is gone afterwards."""
    err = console(stderr=True)
    if not err.is_terminal or err.is_dumb_terminal:
        yield lambda record: None
        return
    with Live(console=err, auto_refresh=False, transient=True) as live:
        yield lambda record: live.update(Bar(record), refresh=True)


def lines(zone: dt.tzinfo, *, json: bool) -> Show:
    """Prints a job whenever its state, attempt or progress has changed."""
    out, before = console(), [()]

    def show(record: JobRecord) -> None:
        now: Any = (record.state, record.fence, record.progress, record.stop_requested_at)
        if [now] == before:
            return
        before[0] = now
        if json:
            print_json_line(job_shape(record, zone))
        else:
            at = iso(time.time_ns() // 1_000, zone, "milliseconds") or ""
            attempt = f"attempt {record.fence}" if record.fence else ""
            out.print(
                Text.assemble(
                    (f"{at} ", "dim"),
                    (f"{record.state:<9}", STATE_STYLES[record.state]),
                    f" {attempt}  {plain(record.progress or '')}".rstrip(),
                )
            )

    return show


class Bar:
    """One line: the state, a bar if the progress is a number up to 100, the progress otherwise, and the age."""

    def __init__(self, job: JobRecord) -> None:
        self._job = job

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        job = self._job
        grid = Table.grid(padding=(0, 1))
        until = job.finished_at or time.time_ns() // 1_000
        age = Text(brief((until - job.created_at) / MICROS), "dim")
        grid.add_row(
            Text(plain(job.task), "bold"), Text(job.state.value, STATE_STYLES[job.state]), *progress_cells(job), age
        )
        yield grid


def progress_cells(job: JobRecord, width: int = _BAR_WIDTH) -> tuple[Any, Text]:
    """A bar and a word."""
    value = percent(job)
    if job.state is State.SUCCEEDED:
        value = 100.0
    if value is not None:
        return ProgressBar(100, value, width=width), Text(f"{value:3.0f}%")
    return Text(plain(job.progress or "")[:width]), Text("")
