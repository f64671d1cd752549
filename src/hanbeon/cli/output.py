"""What commands print: aligned lines for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from hanbeon.domain.lifecycle import State

Cell = Text | str
STATE_STYLES = {
    State.PENDING: "dim",
    State.READY: "cyan",
    State.RUNNING: "bold yellow",
    State.SUCCEEDED: "green",
    State.FAILED: "bold red",
    State.CANCELLED: "magenta",
}
_SHORTEST = 8


class _Pipe(Console):
    """A console that leaves it to the program what happens when nobody reads."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 - called where the error is being handled


def console(*, stderr: bool = False) -> Console:
    return _Pipe(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document: in lines for a person, in one line otherwise."""
    text = msgspec.json.encode(value)
    print((msgspec.json.format(text) if sys.stdout.isatty() else text).decode())


def print_json_line(value: Any) -> None:
    """A document of a stream, at once."""
    print(msgspec.json.encode(value).decode(), flush=True)


def plain(text: str) -> str:
    """Text that cannot move the cursor, colour the screen or break a line: what others wrote is only shown."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def state_cell(state: State) -> Text:
    return Text(state.value, STATE_STYLES[state])


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[Cell]], right: Collection[str] = (), *, empty: str = ""
) -> None:
    """Columns that line up, wide characters too. Nothing is cut but the last column, to a terminal's width.

    Where there are no rows, `empty` is said instead, beside the output.
    """
    if empty and not rows:
        print(empty, file=sys.stderr)
        return
    out = console()
    for line in table_lines(headings, rows, right, out.width if out.is_terminal else None):
        out.print(line)


def table_lines(
    headings: Sequence[str], rows: Sequence[Sequence[Cell]], right: Collection[str] = (), width: int | None = None
) -> list[Text]:
    texts = [[_text(cell) for cell in row] for row in rows]
    table = [[Text(heading.upper(), "dim") for heading in headings], *texts]
    widths = [max(cell_len(row[column].plain) for row in table) for column in range(len(headings))]
    if width is not None:
        room = width - sum(widths[:-1]) - 2 * (len(widths) - 1)
        widths[-1] = min(widths[-1], max(room, _SHORTEST))
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
    """Names and values, one on each line; what is None or empty is left out."""
    shown = [(name, _text(value)) for name, value in facts if value is not None and len(value)]
    out = console()
    width = max((cell_len(name) for name, _ in shown), default=0)
    for name, value in shown:
        out.print(Text.assemble((f"{name:<{width}}  ", "dim"), value))
