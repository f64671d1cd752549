"""The demo's events as lines, and its live view: the office's jobs, the checks, the slots, the rate."""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hanbeon.cli.demo.board import Board, BoardLine
from hanbeon.cli.demo.pipeline import BROWSERS, CHECK_SLOTS, OFFICE, OFFICE_SLOTS, ROLES
from hanbeon.cli.output import STATE_STYLES
from hanbeon.domain.job import JobRecord
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


_HEIGHTS = " ▁▂▃▄▅▆▇█"
_CHECK_SIGNS = {State.SUCCEEDED: "✓", State.FAILED: "✗", State.CANCELLED: "✗"}
_JOBS_HEIGHT, _SLOTS_HEIGHT = 13, 6


class View:
    """Draws the board whenever it is rendered, in the available space."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or console.height
        rows = max(0, height - 1 - _JOBS_HEIGHT - _SLOTS_HEIGHT - 2)
        layout = Layout()
        parts = [
            Layout(self._header(), size=1),
            Layout(self._jobs(), size=_JOBS_HEIGHT),
            Layout(name="middle", size=_SLOTS_HEIGHT),
        ]
        if rows:
            parts.append(Layout(self._events(rows)))
        layout.split_column(*parts)
        layout["middle"].split_row(Layout(self._slots()), Layout(self._checks()), Layout(self._rate()))
        yield layout

    def _header(self) -> RenderableType:
        grid = Table.grid(expand=True)
        grid.add_column()
        grid.add_column(justify="right")
        grid.add_row(
            Text.assemble((" hanbeon ", "bold reverse"), f" release {self._board.release}"),
            Text("Ctrl-C quits ", "dim"),
        )
        return grid

    def _jobs(self) -> RenderableType:
        table = Table(box=None, expand=True, header_style="dim", padding=(0, 1))
        for name, options in (
            ("role", {"width": 9}),
            ("job", {"ratio": 1, "no_wrap": True}),
            ("state", {"width": 9}),
            ("try", {"width": 3, "justify": "right"}),
            ("progress", {"width": 12}),
            ("age", {"width": 6, "justify": "right"}),
        ):
            table.add_column(name, **options)
        for job in self._board.office:
            table.add_row(
                Text(job.role, "bold"),
                self._board.title(job),
                Text(job.state, STATE_STYLES[job.state]),
                Text(str(job.fence) if job.fence else "", "bold red" if job.fence > 1 else ""),
                ProgressBar(100, _progress(job), width=12, complete_style="yellow", finished_style="green"),
                Text(_age(job), "dim"),
            )
        return Panel(table, title="jobs of the office", title_align="left", box=box.ROUNDED, border_style="blue")

    def _slots(self) -> RenderableType:
        running = [job for job in self._board.jobs if job.state is State.RUNNING]
        roles = Counter(job.role for job in running if job.queue == OFFICE)
        half = len(ROLES) // 2
        lines = Group(
            _gauge("office", roles.total(), OFFICE_SLOTS),
            _lamps(roles, ROLES[:half]),
            _lamps(roles, ROLES[half:]),
            _gauge("checks", len(running) - roles.total(), CHECK_SLOTS),
        )
        return Panel(lines, title="slots in use", title_align="left", box=box.ROUNDED, border_style="blue")

    def _checks(self) -> RenderableType:
        grid = Table.grid(padding=(0, 1))
        for browser in BROWSERS:
            signs = Text()
            for job in self._board.checks:
                if job.concurrency_key == browser:
                    signs.append(f"{_sign(job)} ", STATE_STYLES[job.state])
            grid.add_row(Text(browser, "bold"), signs)
        done = sum(job.state is State.SUCCEEDED for job in self._board.checks)
        title = f"checks {done}/{len(self._board.checks)}"
        return Panel(grid, title=title, title_align="left", box=box.ROUNDED, border_style="blue")

    def _rate(self) -> RenderableType:
        counted, rates = self._board.counted, self._board.rates()
        lately = sum(rates[-10:]) / min(10, max(1.0, self._board.seconds))
        lines = Group(
            Text.assemble((f"{lately:.1f}", "bold"), " jobs/s"),
            _Sparkline(rates),
            Text.assemble(
                (f"{counted[Reason.SUCCEEDED]}", "green"),
                " done ",
                (f"{counted[Reason.RETRIED]}", "red"),
                " retried",
            ),
        )
        return Panel(lines, title="throughput", title_align="left", box=box.ROUNDED, border_style="blue")

    def _events(self, rows: int) -> RenderableType:
        lines = [event_line(line, self._board.zone) for line in list(self._board.lines)[-rows:]]
        for line in lines:
            line.no_wrap = True
        return Panel(Group(*lines), title="last events", title_align="left", box=box.ROUNDED, border_style="blue")


class _Sparkline:
    """Bars side by side, the latest on the right; the oldest are dropped when there is no room."""

    def __init__(self, values: list[int]) -> None:
        self._values = values

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        top = max(1, *self._values)
        bars = "".join(_HEIGHTS[-(-8 * value // top)] for value in self._values[-options.max_width :])
        yield Text(bars, "green", no_wrap=True)


def _lamps(running: Counter[str], roles: Sequence[str]) -> Text:
    lamps = Text(no_wrap=True)
    for role in roles:
        lamps.append("● " if running[role] else "○ ", "yellow" if running[role] else "dim")
        lamps.append(f"{role} ", "bold" if running[role] else "dim")
    return lamps


def _gauge(name: str, used: int, slots: int) -> Text:
    return Text.assemble(
        (f"{name} ", "bold"), ("■" * used, "yellow"), ("□" * (slots - used), "dim"), f" {used} of {slots}"
    )


def _progress(job: JobRecord) -> int:
    return int(job.progress) if job.progress else 0


def _sign(job: JobRecord) -> str:
    return _CHECK_SIGNS.get(job.state) or (_HEIGHTS[1 + _progress(job) * 7 // 100] if job.fence else "·")


def _age(job: JobRecord) -> str:
    until = job.finished_at or time.time_ns() // 1_000
    return f"{max(0, until - job.created_at) / 1_000_000:.1f}s"
