"""The worker's and the server's log as a terminal shows it: local time, short ids, one line an entry."""

from __future__ import annotations

import datetime as dt
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from hanbeon.domain.durations import brief
from hanbeon.domain.job import is_id
from hanbeon.quotation import plain

_EVENT_WIDTH = 17
_COLOURS = {"warning": "33", "error": "31", "critical": "31", "debug": "2"}
_EVENT_COLOURS = {"succeeded": "32", "failed": "31", "retried": "33"}
_SAID = frozenset(("timestamp", "level", "event", "task", "took", "retry", "retries", "retry_in", "error"))
_LEFT_OUT = frozenset(("type", "started_at", "ended_at"))
"""Facts of executions that the line's own time and the ends of attempts tell."""
_OURS = "hanbeon"


def add_local_time(logger: Any, method: str, entry: Any) -> Any:
    """Add the present moment in the zone of this machine, whose name stands beside it."""
    now = dt.datetime.now().astimezone()
    entry["timestamp"] = f"{now:%H:%M:%S}.{now.microsecond // 1000:03} {now:%Z}"
    return entry


def render_entry(logger: Any, method: str, entry: Any) -> str:
    """Return an entry as one line, with a traceback below it.

    Values come from requests and jobs, and a terminal would obey the control characters in them: they are escaped.
    """
    paint = _painter()
    level, event = str(entry.get("level", "")), _text(entry.get("event", ""))
    parts = [paint("2", entry["timestamp"])]
    if level in _COLOURS:
        parts.append(paint(_COLOURS[level], level.upper()))
    parts.append(paint(_EVENT_COLOURS.get(event, "1"), f"{event:<{_EVENT_WIDTH}}"))
    parts += _sentence(entry, paint)
    parts += [paint("2", f"{name}=") + _value(value) for name, value in entry.items() if _is_shown(name, entry)]
    lines = [" ".join(parts).rstrip(), *_exceptions(entry)]
    return "\n".join(lines)


def _painter() -> Callable[[str, str], str]:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return lambda colour, text: text
    return lambda colour, text: f"\x1b[{colour}m{text}\x1b[0m"


def _sentence(entry: Any, paint: Callable[[str, str], str]) -> list[str]:
    """Return what is read first of the end of an attempt: its task, its duration, its error, when it is retried."""
    said = []
    if "task" in entry:
        said.append(paint("1", _text(entry["task"])))
    if isinstance(took := entry.get("took"), int | float):
        said.append(f"in {brief(took)}")
    if "retry" in entry:
        said.append(f"retry {entry['retry']} of {entry['retries']}")
    if isinstance(wait := entry.get("retry_in"), int | float):
        said.append(f"in {wait:.3g} s" if wait < 100 else f"in {brief(wait)}")
    if "error" in entry:
        said.append(paint("31", _text(entry["error"])))
    return said


def _is_shown(name: str, entry: Any) -> bool:
    if name == "logger":
        return not str(entry[name]).startswith(_OURS)
    if name == "state":  # The event says it.
        return "took" not in entry
    return name not in _SAID | _LEFT_OUT and not name.startswith(("exc", "_"))


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_value, value))
    text = _text(value)
    return f"{text[:8]}…{text[-4:]}" if is_id(text) else text


def _text(value: Any) -> str:
    return plain(value if isinstance(value, str) else repr(value))


def _exceptions(entry: Any) -> list[str]:
    text, info = entry.get("exception"), entry.get("exc_info")
    if info is True:
        info = sys.exc_info()
    elif isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if isinstance(info, tuple) and info[0] is not None:
        text = "".join(traceback.format_exception(*info))
    return [plain(line) for line in text.rstrip("\n").split("\n")] if isinstance(text, str) else []
