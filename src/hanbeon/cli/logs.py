"""Logging to stderr: human-readable on a terminal, JSON lines elsewhere."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TextIO

import msgspec
import structlog

from hanbeon.cli import terminal_log
from hanbeon.errors import InvalidInput
from hanbeon.logs import LineLogger
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

VARIABLE = "HANBEON_LOG"
_LEVELS = ("debug", "info", "warning", "error", "critical")

_ATOMIC_BYTES = 4_096
"""Writes of at most so much to a pipe are not mixed with those of other processes."""
_MOST_BYTES_A_CHARACTER = 4
_encode = msgspec.json.Encoder(enc_hook=repr).encode


def log_to_stderr(level: int = logging.INFO) -> None:
    """Configure logging for the process, so that all loggers, third-party ones included, use one format.

    HANBEON_LOG chooses levels: of all, or by the names of loggers.
    """
    levels = LogLevels.parse(os.environ.get(VARIABLE, ""), level)
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
    ]
    if sys.stderr.isatty():
        shared.append(terminal_log.add_local_time)
        last: list[structlog.typing.Processor] = [terminal_log.render_entry]
    else:
        shared.append(structlog.processors.TimeStamper(fmt="iso"))
        last = [structlog.processors.format_exc_info, _render_json, _escape_json]
    structlog.configure(
        processors=[*([levels.drop] if levels.by_name else []), *shared, *last],
        logger_factory=_StderrLogger,
        wrapper_class=structlog.make_filtering_bound_logger(levels.lowest),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    last.insert(0, structlog.stdlib.ProcessorFormatter.remove_processors_meta)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=last, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(levels.of_all)
    for name, chosen in levels.by_name.items():
        logging.getLogger(name).setLevel(chosen)


class LogLevels(NamedTuple):
    """The least levels that are written: of all loggers, and of those below a name."""

    of_all: int
    by_name: Mapping[str, int]

    @classmethod
    def parse(cls, text: str, default: int) -> LogLevels:
        """Read `warning` or `hanbeon.tasks=error,hanbeon.requests=warning`, or both."""
        of_all, by_name = default, {}
        for part in filter(None, (each.strip() for each in text.split(","))):
            name, _, level = part.rpartition("=")
            chosen = logging.getLevelNamesMapping().get(level.strip().upper())
            if chosen is None:
                raise InvalidInput(Rule("log_levels", levels=_LEVELS, got=quoted(part)), field=VARIABLE)
            if name:
                by_name[name.strip()] = chosen
            else:
                of_all = chosen
        return cls(of_all, by_name)

    @property
    def lowest(self) -> int:
        return min((self.of_all, *self.by_name.values()))

    def drop(self, logger: Any, method: str, entry: Any) -> Any:
        """Drop an entry below the level of the longest name that its logger's begins with."""
        level = logging.getLevelNamesMapping()["ERROR" if method == "exception" else method.upper()]
        near = max((name for name in self.by_name if f"{logger.name}.".startswith(f"{name}.")), key=len, default=None)
        if level < (self.of_all if near is None else self.by_name[near]):
            raise structlog.DropEvent
        return entry


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


def _escape_json(logger: Any, method: str, line: Any) -> str:
    """Escape what JSON may hold as it is: DEL, C1 controls, line separators, marks of direction, half surrogates."""
    if line.isprintable():
        return str(line)
    return "".join(char if char.isprintable() else _json_escape(char) for char in line)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
