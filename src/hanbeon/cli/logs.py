"""Logging to stderr: human-readable on a terminal, JSON lines elsewhere."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any, TextIO

import structlog

from hanbeon.quotation import plain


def log_to_stderr(level: int = logging.INFO) -> None:
    """Configure logging for the process, so that all loggers, third-party ones included, use one format."""
    terminal = sys.stderr.isatty()
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="%H:%M:%S.%f" if terminal else "iso", utc=not terminal),
    ]
    if terminal:
        last: list[structlog.typing.Processor] = [
            _escape_values,
            structlog.dev.ConsoleRenderer(exception_formatter=_write_exception),
        ]
    else:
        render = structlog.processors.JSONRenderer(ensure_ascii=False)
        last = [structlog.processors.format_exc_info, render, _escape_json]
    structlog.configure(
        processors=[*shared, *last],
        logger_factory=_StderrLogger,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    last.insert(0, structlog.stdlib.ProcessorFormatter.remove_processors_meta)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=last, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


class _StderrLogger:
    """Writes finished lines. By way of Python's logging, a worker would spend more on its log than on its jobs."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self._out = sys.stderr

    def _write(self, line: str) -> None:
        try:
            # One call: processes and threads that share it do not mix their lines.
            self._out.write(line + "\n")
            self._out.flush()
        except (OSError, ValueError):
            # Nobody reads it any more, and the work goes on; as Python's logging does without it.
            pass

    debug = info = warning = error = exception = critical = log = msg = _write


# Values come from requests and jobs, and a terminal would obey the control characters in them.


def _escape_values(logger: Any, method: str, entry: Any) -> Any:
    return {name: value if name == "exc_info" else _escaped(value) for name, value in entry.items()}


def _escaped(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return plain(value if isinstance(value, str) else repr(value))


def _write_exception(out: TextIO, exc_info: Any) -> None:
    lines = "".join(traceback.format_exception(*exc_info)).rstrip("\n").split("\n")
    out.write("\n" + "\n".join(map(plain, lines)))


def _escape_json(logger: Any, method: str, line: Any) -> str:
    """Escape what JSON may hold as it is: DEL, C1 controls, line separators, marks of direction, half surrogates."""
    if line.isprintable():
        return str(line)
    return "".join(char if char.isprintable() else _json_escape(char) for char in line)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
