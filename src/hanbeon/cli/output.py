"""Output of commands: aligned tables, instants and durations for people, JSON for programs."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from hanbeon.domain.durations import brief as brief
from hanbeon.domain.lifecycle import State
from hanbeon.quotation import plain

_FRACTION = re.compile(r"\.\d+")


def to_seconds(instant: str | None) -> str:
    """Drop the fraction of an ISO-8601 instant, for a table; empty for None."""
    return "" if instant is None else _FRACTION.sub("", instant)


def seconds_between(start: str | None, end: str | dt.datetime | None) -> float:
    """Return the seconds from one ISO-8601 instant to another, or 0 where one is missing."""
    if start is None or end is None:
        return 0.0
    moment = dt.datetime.fromisoformat(end) if isinstance(end, str) else end
    return (moment - dt.datetime.fromisoformat(start)).total_seconds()


def now_beside(instant: str) -> dt.datetime:
    """Return the present moment in the time zone of an ISO-8601 instant."""
    return dt.datetime.now(dt.datetime.fromisoformat(instant).tzinfo)


def json_text(value: Any) -> str | None:
    """Return a value as JSON; None stays None."""
    return None if value is None else msgspec.json.encode(value).decode()


def percent(progress: Any) -> float | None:
    """Return a progress that is a number; tasks may report any JSON."""
    if isinstance(progress, bool) or not isinstance(progress, int | float):
        return None
    return min(100.0, max(0.0, float(progress)))


def progress_text(progress: Any) -> str:
    """Format a number as a percentage, anything else as its JSON."""
    value = percent(progress)
    return json_text(progress) or "" if value is None else f"{value:.0f}%"


Cell = Text | str
STATE_STYLES = {
    State.PENDING: "dim",
    State.READY: "cyan",
    State.RUNNING: "bold yellow",
    State.SUCCEEDED: "green",
    State.FAILED: "bold red",
    State.CANCELLED: "magenta",
}
_MIN_LAST_COLUMN = 8


class _Pipe(Console):
    """A console that leaves a broken pipe to the program to handle."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 - called where the error is being handled


def console(*, stderr: bool = False) -> Console:
    return _Pipe(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print one JSON document: indented on a terminal, on one line elsewhere."""
    text = msgspec.json.encode(value)
    print((msgspec.json.format(text) if sys.stdout.isatty() else text).decode())


def print_json_line(value: Any) -> None:
    """Print one document of a stream and flush."""
    print(msgspec.json.encode(value).decode(), flush=True)


def print_lines(text: str) -> None:
    """Print a text of several lines, indented, without what a terminal would obey."""
    for line in text.splitlines():
        print(f"  {plain(line)}".rstrip())


def state_cell(state: State) -> Text:
    return Text(state.value, STATE_STYLES[state])


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[Cell]], right: Collection[str] = (), *, empty: str = ""
) -> None:
    """Print aligned columns, wide characters included. Only the last column is cut, to a terminal's width.

    If there are no rows, `empty` is printed to stderr instead.
    """
    if empty and not rows:
        print(empty, file=sys.stderr)
        return
    out = console()
    for line in table_lines(headings, rows, right, out.width if out.is_terminal else None):
        out.print(line)


def print_next_page(option: str, position: str | None) -> None:
    """Print, to stderr, the option that shows the next page, if there is one."""
    if position is not None:
        print(f"more results: add {option} {position}", file=sys.stderr)


def table_lines(
    headings: Sequence[str], rows: Sequence[Sequence[Cell]], right: Collection[str] = (), width: int | None = None
) -> list[Text]:
    texts = [[_text(cell) for cell in row] for row in rows]
    table = [[Text(heading.upper(), "dim") for heading in headings], *texts]
    widths = [max(cell_len(row[column].plain) for row in table) for column in range(len(headings))]
    if width is not None:
        room = width - sum(widths[:-1]) - 2 * (len(widths) - 1)
        widths[-1] = min(widths[-1], max(room, _MIN_LAST_COLUMN))
    return [_line(row, widths, [heading in right for heading in headings]) for row in table]


def _text(cell: Cell) -> Text:
    return Text(plain(cell)) if isinstance(cell, str) else cell


def _line(row: Sequence[Text], widths: Sequence[int], right: Sequence[bool]) -> Text:
    line = Text(no_wrap=True)
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        if column:
            line.append("  ")
        space = width - cell_len(cell.plain)
        if space < 0:
            cell = Text(set_cell_size(cell.plain, width - 1).rstrip() + "…", cell.style)
        if right[column]:
            line.append(" " * space)
        line.append_text(cell)
        if not right[column] and column < len(row) - 1:
            line.append(" " * space)
    line.rstrip()
    return line


def print_facts(facts: Sequence[tuple[str, Cell | None]]) -> None:
    """Print names and values, one per line, without those that are None or empty."""
    shown = [(name, _text(value)) for name, value in facts if value is not None and len(value)]
    out = console()
    width = max((cell_len(name) for name, _ in shown), default=0)
    for name, value in shown:
        out.print(Text.assemble((f"{name:<{width}}  ", "dim"), value))
