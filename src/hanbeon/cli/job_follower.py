"""Follows a job and its log until it ends: with a progress bar on a terminal, as lines or JSON elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hanbeon.cli.installation import hints_of
from hanbeon.cli.output import (
    STATE_STYLES,
    brief,
    console,
    json_text,
    now_beside,
    percent,
    print_json_line,
    seconds_between,
)
from hanbeon.domain.lifecycle import TERMINAL, State
from hanbeon.domain.log import LogStream
from hanbeon.errors import JobCancelled, JobFailed
from hanbeon.quotation import plain
from hanbeon.surfaces.engine.schemas import EngineJob
from hanbeon.surfaces.installation import Installation
from hanbeon.surfaces.schema import LogEntry
from hanbeon.wait import until

_STYLES = {LogStream.STDOUT: "", LogStream.STDERR: "red", LogStream.TASK: "", LogStream.ENGINE: "dim"}
Printer = Callable[[Sequence[LogEntry]], None]


async def print_log(
    installation: Installation, job_id: str, printer: Printer, after: str | None = None, attempt: int | None = None
) -> str:
    """Print a log after a position, and return the position to resume from."""
    unprinted: list[LogEntry] = []
    given = {"attempt": attempt, "after": after}
    position: Any = {name: value for name, value in given.items() if value is not None}
    while True:
        page = await installation.engine.log(job_id, **position)
        entries, position["after"] = [*unprinted, *page.entries], page.after
        # A line that was stored in pieces is printed as one, also across pages.
        unprinted = entries[-1:] if page.more and entries and _is_piece(entries[-1]) else []
        if len(entries) > len(unprinted):
            printer(entries[: len(entries) - len(unprinted)])
        if not page.more:
            return page.after


def print_as_json(entries: Sequence[LogEntry]) -> None:
    """Print entries as the API returns them, one a line."""
    for entry in entries:
        print_json_line(entry)


def printer_on(out: Console) -> Printer:
    """Return a printer of the text alone."""
    return lambda entries: print_verbatim(out, log_text(entries))


def print_verbatim(out: Console, text: Text) -> None:
    """Print in colour on a terminal; elsewhere exactly what the job printed, tabs and trailing spaces included."""
    if out.is_terminal:
        out.print(text)
    else:
        print(text.plain, file=out.file, flush=True)


def log_text(entries: Sequence[LogEntry]) -> Text:
    """Return the text alone, with pieces of a line joined and a mark in place of cut lines."""
    text = Text()
    for position, entry in enumerate(entries, start=1):
        text.append_text(entry_text(entry))
        following = entries[position] if position < len(entries) else None
        if following is not None and not _is_continued(entry, following):
            text.append("\n")
    return text


def entry_text(entry: LogEntry) -> Text:
    """Return one line. Control characters are escaped, so that a job cannot move the cursor or colour the screen."""
    if entry.lines is not None:
        return Text(f"[… {entry.lines:,} line{'s' * (entry.lines != 1)} cut …]", "dim")
    return Text("\t".join(map(plain, (entry.text or "").split("\t"))), _STYLES[LogStream(entry.stream or "")])


def _is_piece(entry: LogEntry) -> bool:
    return entry.lines is None and entry.unended


def _is_continued(entry: LogEntry, following: LogEntry) -> bool:
    return (
        _is_piece(entry)
        and following.lines is None
        and (entry.attempt, entry.stream) == (following.attempt, following.stream)
    )


_LONGEST_PAUSE = 0.2
_BAR_WIDTH = 30
Show = Callable[[EngineJob], None]


class Screen(NamedTuple):
    """The functions that show a job and print its log."""

    show: Show
    print_log: Printer | None


QUIET = Screen(lambda job: None, None)


async def follow(installation: Installation, job_id: str, screen: Screen) -> EngineJob:
    """Show a job until it has ended. Progress and log are not events, so they are polled."""
    after: str | None = None

    async def read() -> EngineJob:
        nonlocal after
        job = await installation.engine.job(job_id)
        if screen.print_log is not None:
            # After the job: when it has ended, its log is complete.
            after = await print_log(installation, job_id, screen.print_log, after)
        screen.show(job)
        return job

    return await until(read, lambda job: job.state in TERMINAL, hints_of(installation), longest=_LONGEST_PAUSE)


def raise_unless_succeeded(job: EngineJob) -> None:
    """Raise the error that a waiter gets for a job that failed or was cancelled."""
    if job.state is State.FAILED:
        raise JobFailed(job.id, job.failure_type or "error", plain(job.error_message or ""))
    if job.state is State.CANCELLED:
        raise JobCancelled(job.id)


@contextlib.contextmanager
def bar(out: Console | None) -> Iterator[Screen]:
    """Show a job as a transient bar on stderr, if that is a terminal. Its log goes to `out`, if given."""
    err = console(stderr=True)
    if not err.is_terminal or err.is_dumb_terminal:
        yield Screen(lambda job: None, None if out is None else printer_on(out))
        return
    with Live(console=err, auto_refresh=False, transient=True) as live:
        # On the same screen the log must go above the bar, which only the bar's own console can do.
        above = live.console if out is not None and out.is_terminal else out
        yield Screen(lambda job: live.update(Bar(job), refresh=True), None if above is None else printer_on(above))


def lines(*, json: bool) -> Screen:
    """Print a job whenever its state, attempt or progress changes, and its log."""
    out = console()
    before: list[Any] = [()]

    def show(job: EngineJob) -> None:
        now: Any = (job.state, job.attempt, job.progress, job.stop_requested_at)
        if [now] == before:
            return
        before[0] = now
        if json:
            print_json_line(job)
        else:
            out.print(_job_line(job))

    def print_lines(entries: Sequence[LogEntry]) -> None:
        for entry in entries:
            print_verbatim(out, _log_line(entry))

    return Screen(show, print_as_json if json else print_lines)


def _job_line(job: EngineJob) -> Text:
    at = job.finished_at or now_beside(job.created_at).isoformat(timespec="milliseconds")
    attempt = f"attempt {job.attempt}" if job.attempt else ""
    return Text.assemble(
        (f"{at} ", "dim"),
        (f"{job.state:<9}", STATE_STYLES[job.state]),
        f" {attempt}  {plain(json_text(job.progress) or '')}".rstrip(),
    )


def _log_line(entry: LogEntry) -> Text:
    """Format a log entry in the columns of the lines about the job itself."""
    if entry.lines is not None:
        return entry_text(entry)
    return Text.assemble((f"{entry.at} ", "dim"), (f"{entry.stream:<9} ", "dim"), entry_text(entry))


class Bar:
    """One line: the state, a bar if the progress is a percentage and its JSON otherwise, and the age."""

    def __init__(self, job: EngineJob) -> None:
        self._job = job

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        job = self._job
        grid = Table.grid(padding=(0, 1))
        grid.add_row(
            Text(job.id, "dim"),
            Text(plain(job.task), "bold"),
            Text(job.state.value, STATE_STYLES[job.state]),
            *progress_cells(job.state, job.progress),
            Text(brief(seconds_between(job.created_at, job.finished_at or now_beside(job.created_at))), "dim"),
        )
        yield grid


def progress_cells(state: State, progress: Any, width: int = _BAR_WIDTH) -> tuple[Any, Text]:
    """Return a bar and its label."""
    value = 100.0 if state is State.SUCCEEDED else percent(progress)
    if value is not None:
        return ProgressBar(100, value, width=width), Text(f"{value:3.0f}%")
    return Text(plain(json_text(progress) or "")[:width]), Text("")
