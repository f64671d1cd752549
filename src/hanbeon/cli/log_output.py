"""Prints the log of a job page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from hanbeon.cli.source.source import Source
from hanbeon.domain.log import LogCut, LogEntry, LogLine, LogStream
from hanbeon.quotation import plain

_STYLES = {LogStream.STDOUT: "", LogStream.STDERR: "red", LogStream.TASK: "", LogStream.ENGINE: "dim"}
Printer = Callable[[Sequence[LogEntry]], None]


async def print_log(
    source: Source, job_id: str, printer: Printer, after: str | None = None, attempt: int | None = None
) -> str:
    """Print a log after a position, and return the position to resume from."""
    unprinted: list[LogEntry] = []
    while True:
        page = await source.log(job_id, attempt=attempt, after=after)
        entries, after = [*unprinted, *page.entries], page.after
        # A line that was stored in pieces is printed as one, also across pages.
        unprinted = entries[-1:] if page.more and entries and _is_piece(entries[-1]) else []
        if len(entries) > len(unprinted):
            printer(entries[: len(entries) - len(unprinted)])
        if not page.more:
            return after


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
    if isinstance(entry, LogCut):
        return Text(f"[… {entry.lines:,} line{'s' * (entry.lines != 1)} cut …]", "dim")
    return Text("\t".join(map(plain, entry.text.split("\t"))), _STYLES[entry.stream])


def _is_piece(entry: LogEntry) -> bool:
    return isinstance(entry, LogLine) and entry.unended


def _is_continued(entry: LogEntry, following: LogEntry) -> bool:
    return (
        isinstance(entry, LogLine)
        and isinstance(following, LogLine)
        and entry.unended
        and (entry.attempt, entry.stream) == (following.attempt, following.stream)
    )
