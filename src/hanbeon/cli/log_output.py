"""Prints the log of a job page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from hanbeon.cli.output import print_json_line
from hanbeon.domain.log import LogStream
from hanbeon.quotation import plain
from hanbeon.surfaces.installation import Installation
from hanbeon.surfaces.schema import LogEntry

_STYLES = {LogStream.STDOUT: "", LogStream.STDERR: "red", LogStream.TASK: "", LogStream.ENGINE: "dim"}
Printer = Callable[[Sequence[LogEntry]], None]


async def print_log(
    installation: Installation, job_id: str, printer: Printer, after: str | None = None, attempt: int | None = None
) -> str:
    """Print a log after a position, and return the position to resume from."""
    unprinted: list[LogEntry] = []
    given = {"attempt": attempt, "after": after}
    place: Any = {name: value for name, value in given.items() if value is not None}
    while True:
        page = await installation.engine.log(job_id, **place)
        entries, place["after"] = [*unprinted, *page.entries], page.after
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
    for place, entry in enumerate(entries, start=1):
        text.append_text(entry_text(entry))
        following = entries[place] if place < len(entries) else None
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
