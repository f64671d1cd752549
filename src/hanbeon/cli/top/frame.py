"""Renders a snapshot as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from hanbeon.cli.formats import brief, json_text, percent, seconds_between, to_seconds
from hanbeon.cli.output import STATE_STYLES, Cell, table_lines
from hanbeon.cli.queues import limits_of, limits_text
from hanbeon.cli.top.snapshot import Snapshot
from hanbeon.domain.lifecycle import State
from hanbeon.quotation import plain
from hanbeon.surfaces.engine.schemas import EngineJob

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
