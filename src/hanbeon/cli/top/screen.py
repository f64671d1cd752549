"""Snapshots of an installation as frames of text: one, or a live view until the user quits."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from hanbeon.cli.installation import address_of, open_installation
from hanbeon.cli.output import (
    STATE_STYLES,
    Cell,
    brief,
    json_text,
    percent,
    print_json,
    seconds_between,
    table_lines,
    to_seconds,
)
from hanbeon.cli.queues import limits_of, limits_text, read_queues
from hanbeon.domain.bounds import PAGE_ROWS
from hanbeon.domain.lifecycle import State
from hanbeon.errors import Unavailable
from hanbeon.quotation import plain
from hanbeon.surfaces.engine.schemas import EngineInstance, EngineJob, EngineQueue
from hanbeon.surfaces.installation import Installation

_WINDOW_SECONDS = 300
_MAX_RUNNING = 200
_RATES_KEPT = 60


class Snapshot(NamedTuple):
    """The state of an installation at one moment. `name`: its database or server."""

    name: str
    at: str
    queues: Sequence[EngineQueue]
    instances: Sequence[EngineInstance]
    running: Sequence[EngineJob]

    def count(self, state: State) -> int:
        return sum(queue.states[state] for queue in self.queues)

    @property
    def alive(self) -> list[EngineInstance]:
        return [each for each in self.instances if each.alive]


async def take_snapshot(installation: Installation) -> Snapshot:
    queues = await read_queues(installation, window=_WINDOW_SECONDS)
    instances = (await installation.engine.instances()).items
    running = (await installation.engine.jobs(state=[State.RUNNING], limit=PAGE_ROWS)).items
    longest = sorted(running, key=lambda job: job.started_at or job.created_at)[:_MAX_RUNNING]
    return Snapshot(address_of(installation), queues.at, queues.items, instances, longest)


class Rates:
    """Jobs succeeded per second between one snapshot and the next, the latest last."""

    def __init__(self) -> None:
        self.values: deque[float] = deque(maxlen=_RATES_KEPT)
        self._previous: tuple[float, int] | None = None

    def add(self, snapshot: Snapshot) -> None:
        now, succeeded = time.monotonic(), snapshot.count(State.SUCCEEDED)
        if self._previous is not None:
            at, count = self._previous
            # Fewer than before: old jobs were pruned meanwhile.
            self.values.append(max(0, succeeded - count) / max(0.001, now - at))
        self._previous = now, succeeded


_HEIGHTS = " ▁▂▃▄▅▆▇█"
_BAR = 16
_STATES = tuple(State)


def frame(
    snapshot: Snapshot, rates: Sequence[float], width: int | None = None, height: int | None = None
) -> list[Text]:
    """Return the header, the queues, and as many of the running jobs as fit, oldest first."""
    lines = [*_head(snapshot, rates), Text(), *_queues(snapshot, width), Text(), *_running(snapshot, width)]
    if height is not None and len(lines) > height:
        hidden = len(lines) - height + 1
        lines = [*lines[: height - 1], Text(f"… {hidden} more lines", "dim")]
    return lines


def _head(snapshot: Snapshot, rates: Sequence[float]) -> list[Text]:
    alive = snapshot.alive
    # An instance's own numbers are as old as its last heartbeat; the count of running jobs is exact.
    used, slots = snapshot.count(State.RUNNING), sum(each.capacity for each in alive)
    lately = sum(queue.throughput for queue in snapshot.queues)
    return [
        Text.assemble(
            (" hanbeon ", "bold reverse"),
            f" {plain(snapshot.name)}  ",
            (to_seconds(snapshot.at), "dim"),
        ),
        Text.assemble(
            f"{len(alive)} live instance{'s' * (len(alive) != 1)}, ",
            (f"{used} of {slots}", "bold"),
            " slots in use   ",
            *[
                part
                for state in _STATES
                for part in ((f"{snapshot.count(state):,} {state}", STATE_STYLES[state]), "  ")
            ],
        ),
        Text.assemble(
            ("throughput ", "dim"),
            (f"{rates[-1]:.1f} jobs/s now, " if rates else "", "bold"),
            f"{lately:.1f} jobs/s in the last minutes  ",
            (_sparkline(rates), "green"),
        ),
    ]


def _queues(snapshot: Snapshot, width: int | None) -> list[Text]:
    states = ("pending", "ready", "running", "failed")
    spans = ("oldest", "wait p95", "run p95", "jobs/s")
    rows: list[list[Cell]] = [
        [
            Text(plain(queue.name), "bold red" if queue.paused else "bold"),
            *(_number(queue.states[State(state)], STATE_STYLES[State(state)]) for state in states),
            brief(queue.oldest_ready),
            brief(queue.wait.p95 if queue.wait else None),
            brief(queue.run.p95 if queue.run else None),
            f"{queue.throughput:.1f}",
            limits_text(limits_of(queue), paused=queue.paused),
        ]
        for queue in snapshot.queues
    ]
    return table_lines(("queue", *states, *spans, "limits"), rows, (*states, *spans), width)


def _running(snapshot: Snapshot, width: int | None) -> list[Text]:
    names = {each.id: each.name for each in snapshot.instances}
    rows: list[list[Cell]] = [
        [
            job.id,
            job.queue,
            Text(plain(job.task), "bold"),
            str(job.attempt),
            brief(seconds_between(job.started_at, snapshot.at)),
            _progress(job),
            names.get(job.instance_id or 0, "") + (" (stopping)" if job.stop_requested_at else ""),
        ]
        for job in snapshot.running
    ]
    return table_lines(("running", "queue", "task", "try", "age", "progress", "instance"), rows, ("try", "age"), width)


def _number(value: int, style: str) -> Text:
    return Text(f"{value:,}", style if value else "dim")


def _progress(job: EngineJob) -> Text:
    value = percent(job.progress)
    if value is None:
        return Text(plain(json_text(job.progress) or "")[: _BAR + 5])
    full = round(value / 100 * _BAR)
    return Text.assemble(("━" * full, "yellow"), ("─" * (_BAR - full), "dim"), f" {value:3.0f}%")


def _sparkline(rates: Sequence[float]) -> str:
    highest = max(rates, default=0.0)
    if not highest:
        return ""
    return "".join(_HEIGHTS[min(8, -int(-8 * rate // highest))] for rate in rates)


async def print_frame(out: Console, database: str | None, *, json: bool) -> None:
    """Print the current state once."""
    async with open_installation(database) as installation:
        snapshot = await take_snapshot(installation)
    if json:
        print_json(
            {
                "queues": snapshot.queues,
                "instances": snapshot.instances,
                "running": snapshot.running,
            }
        )
        return
    for line in frame(snapshot, (), out.width if out.is_terminal else None):
        line.rstrip()
        out.print(line)


async def show_live(out: Console, database: str | None, every: float) -> None:
    """Refresh the view until q is pressed. While it is unavailable, the last frame stays with the error."""
    rates = Rates()
    async with open_installation(database) as installation:
        with _quit_key() as quit_requested, Live(console=out, screen=True, auto_refresh=False) as live:
            lines = [Text("loading …")]
            while not quit_requested.is_set():
                try:
                    snapshot = await take_snapshot(installation)
                    rates.add(snapshot)
                    lines = frame(snapshot, list(rates.values), out.width, out.height)
                except Unavailable as error:
                    lines = [Text(f"error: {error}", "bold red"), *lines[1:]]
                live.update(Group(*(_cut(line, out.width) for line in lines)), refresh=True)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(every):
                        await quit_requested.wait()


def _cut(line: Text, width: int) -> Text:
    line = line.copy()
    line.truncate(width, overflow="ellipsis")
    return line


@contextlib.contextmanager
def _quit_key() -> Iterator[asyncio.Event]:
    """Return an event that q sets. Meanwhile the terminal passes on single keys without echoing them."""
    quit_requested = asyncio.Event()
    if not sys.stdin.isatty():
        yield quit_requested
        return
    import termios
    import tty

    loop, keyboard = asyncio.get_running_loop(), sys.stdin.fileno()

    def read() -> None:
        import os

        pressed = os.read(keyboard, 100)
        if not pressed or b"q" in pressed.lower():
            quit_requested.set()

    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    loop.add_reader(keyboard, read)
    try:
        yield quit_requested
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
