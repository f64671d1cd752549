"""Logging to stderr: human-readable on a terminal, JSON lines elsewhere."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any, TextIO

import msgspec
import structlog

from hanbeon.logs import LineLogger
from hanbeon.quotation import plain

_ATOMIC_BYTES = 4_096
"""Writes of at most so much to a pipe are not mixed with those of other processes."""
_MOST_BYTES_A_CHARACTER = 4
_encode = msgspec.json.Encoder(enc_hook=repr).encode


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
        last = [structlog.processors.format_exc_info, _render_json, _escape_json]
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


class _StderrLogger(LineLogger):
    """Writes finished lines. By way of Python's logging, a worker would spend more on its log than on its jobs."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self._out = sys.stderr
        self._gathered: list[str] = []
        """Lines that are written together soon: those of the thread that gathers them."""
        self._thread: int | None = None
        self._room = 0

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Gather the lines of the block, and write as many at a time as others cannot get in between."""
        if self._thread is not None:
            yield
            return
        self._thread, self._room = threading.get_ident(), _ATOMIC_BYTES
        try:
            yield
        finally:
            self._thread = None
            self._write_gathered()

    def _write(self, line: str) -> None:
        line += "\n"
        if self._thread is None or self._thread != threading.get_ident():
            _put(self._out, line)
            return
        size = len(line) if line.isascii() else len(line) * _MOST_BYTES_A_CHARACTER
        if size > self._room:
            self._write_gathered()
        self._gathered.append(line)
        self._room -= size

    def _write_gathered(self) -> None:
        lines = "".join(self._gathered)
        self._gathered.clear()
        self._room = _ATOMIC_BYTES
        if lines:
            _put(self._out, lines)

    debug = info = warning = error = exception = critical = log = msg = _write


def _put(out: TextIO, lines: str) -> None:
    try:
        # One call: processes and threads that share it do not mix their lines.
        out.write(lines)
        out.flush()
    except (OSError, ValueError):
        # Nobody reads it any more, and the work goes on; as Python's logging does without it.
        pass


def _render_json(logger: Any, method: str, entry: Any) -> str:
    """Encode an entry, whatever is in it."""
    try:
        return msgspec.json.format(_encode(entry), indent=0).decode()
    except Exception:  # Half of a surrogate pair, an integer of a hundred digits.
        return json.dumps(entry, ensure_ascii=False, default=repr)


# Values come from requests and jobs, and a terminal would obey the control characters in them.


def _escape_values(logger: Any, method: str, entry: Any) -> Any:
    escaped = {name: value if name == "exc_info" else _escaped(value) for name, value in entry.items()}
    if isinstance(text := entry.get("exception"), str):
        escaped["exception"] = _escaped_lines(text)
    return escaped


def _escaped(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return plain(value if isinstance(value, str) else repr(value))


def _write_exception(out: TextIO, exc_info: Any) -> None:
    out.write("\n" + _escaped_lines("".join(traceback.format_exception(*exc_info)).rstrip("\n")))


def _escaped_lines(text: str) -> str:
    return "\n".join(map(plain, text.split("\n")))


def _escape_json(logger: Any, method: str, line: Any) -> str:
    """Escape what JSON may hold as it is: DEL, C1 controls, line separators, marks of direction, half surrogates."""
    if line.isprintable():
        return str(line)
    return "".join(char if char.isprintable() else _json_escape(char) for char in line)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
