"""The log of a job: as text, and page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from hanbeon.app import App
from hanbeon.cli.output import plain
from hanbeon.domain.log import LogCut, LogEntry, LogLine, LogStream

_STYLES = {LogStream.STDOUT: "", LogStream.STDERR: "red", LogStream.TASK: "", LogStream.ENGINE: "dim"}
Printer = Callable[[Sequence[LogEntry]], None]


async def print_log(
    app: App, job_id: str, printer: Printer, after: str | None = None, attempt: int | None = None
) -> str:
    """Print what there is of a log behind a place; the place to go on from."""
    begun: list[LogEntry] = []
    while True:
        page = await app.log(job_id, attempt=attempt, after=after)
        entries, after = [*begun, *page.entries], page.after
        # A line that came in pieces is shown as one, also where the next piece is on the next page.
        begun = entries[-1:] if page.more and entries and _is_piece(entries[-1]) else []
        if len(entries) > len(begun):
            printer(entries[: len(entries) - len(begun)])
        if not page.more:
            return after


def printer_on(out: Console) -> Printer:
    """Prints the text alone."""
    return lambda entries: print_as_it_is(out, log_text(entries))


def print_as_it_is(out: Console, text: Text) -> None:
    """In colour where that can be seen; elsewhere tabs and trailing spaces, too, are what the job printed."""
    if out.is_terminal:
        out.print(text)
    else:
        print(text.plain, file=out.file, flush=True)


def log_text(entries: Sequence[LogEntry]) -> Text:
    """The text alone; pieces of a line follow each other, and a mark stands for what was cut."""
    text = Text()
    for place, entry in enumerate(entries, start=1):
        text.append_text(entry_text(entry))
        following = entries[place] if place < len(entries) else None
        if following is not None and not _goes_on(entry, following):
            text.append("\n")
    return text


def entry_text(entry: LogEntry) -> Text:
    """One line. What a job printed is only shown: it cannot move the cursor or colour the screen."""
    if isinstance(entry, LogCut):
        return Text(f"[… {entry.lines:,} line{'s' * (entry.lines != 1)} cut …]", "dim")
    return Text("\t".join(map(plain, entry.text.split("\t"))), _STYLES[entry.stream])


def _is_piece(entry: LogEntry) -> bool:
    return isinstance(entry, LogLine) and entry.unended


def _goes_on(entry: LogEntry, following: LogEntry) -> bool:
    return (
        isinstance(entry, LogLine)
        and isinstance(following, LogLine)
        and entry.unended
        and (entry.attempt, entry.stream) == (following.attempt, following.stream)
    )
