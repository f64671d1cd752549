"""The log of a job, and why it waits, as every surface shows them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import cast

from hanbeon.clock import iso
from hanbeon.domain import explain as engine
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log import LogCut, LogPage
from hanbeon.surfaces.schema import Explanation, ExplanationReason, Log, LogEntry


def explanation_view(found: engine.Explanation, zone: tzinfo, status_of: Callable[[State], str]) -> Explanation:
    """Translate an explanation; `status_of` maps a state to the surface's status."""
    return Explanation(runnable=found.runnable, reasons=[_reason(each, zone, status_of) for each in found.reasons])


def _reason(because: engine.Because, zone: tzinfo, status_of: Callable[[State], str]) -> ExplanationReason:
    text, details = because.text, dict(because.details)
    if "state" in details:
        state = State(details.pop("state"))
        status = str(status_of(state))
        # Only the beginning: a message may contain the same text.
        details, text = {"status": status, **details}, text.replace(engine.ended(state), engine.ended(status), 1)
    for name in engine.INSTANTS & details.keys():
        details[name] = iso(details[name], zone, "milliseconds")
    return cast("ExplanationReason", {"code": because.code, "text": text, **details})


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
