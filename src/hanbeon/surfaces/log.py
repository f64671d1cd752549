"""Pages of a job's log, as every surface shows them."""

from __future__ import annotations

from datetime import tzinfo

from hanbeon.clock import iso
from hanbeon.domain.log import LogCut, LogPage
from hanbeon.surfaces.schema import Log, LogEntry


def log_view(page: LogPage, zone: tzinfo) -> Log:
    entries = []
    for each in page.entries:
        if isinstance(each, LogCut):
            entries.append(LogEntry(attempt=each.attempt, line=each.line, lines=each.lines))
        else:
            at = iso(each.at, zone, "milliseconds")
            entries.append(
                LogEntry(
                    attempt=each.attempt,
                    line=each.line,
                    at=at,
                    stream=each.stream.value,
                    text=each.text,
                    unended=each.unended,
                )
            )
    return Log(entries=entries, after=page.after, more=page.more)
