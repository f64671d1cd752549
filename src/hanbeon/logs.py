"""Logs as a library should: through Python's logging, or through structlog where the program has configured it."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class LineLogger:
    """Of a structlog configuration: writes finished lines, and several by few calls if they come together."""

    def together(self) -> AbstractContextManager[None]:
        """Gather the lines of the block."""
        return contextlib.nullcontext()


class Logger:
    """Writes events with fields; `exception` is a traceback as text, on lines of its own.

    It is silent below WARNING until logging is configured, and never writes to stdout."""

    __slots__ = ("_bound", "_logger", "_processors")

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)
        self._bound: Any = None
        self._processors: Any = None

    def debug(self, event: str, **fields: Any) -> None:
        self._write("debug", logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._write("info", logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._write("warning", logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._write("error", logging.ERROR, event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """Write an error with the exception that is being handled, or the one of `exc_info`."""
        self._write("exception", logging.ERROR, event, {"exc_info": True, **fields})

    def together(self) -> AbstractContextManager[None]:
        """Have the entries of the block written together, if the program's log is one of lines."""
        structlog = _configured_structlog()
        lines = None if structlog is None else getattr(self._logger_of(structlog), "_logger", None)
        # By its class: loggers of other kinds may claim to have any method.
        return lines.together() if isinstance(lines, LineLogger) else contextlib.nullcontext()

    def _write(self, method: str, level: int, event: str, fields: dict[str, Any]) -> None:
        structlog = _configured_structlog()
        if structlog is not None:
            try:
                getattr(self._logger_of(structlog), method)(event, **fields)
            except Exception:
                # A program's own pipeline: an odd message that it cannot write must not end the attempt it is about.
                self._logger.exception("a log entry could not be written")
        elif self._logger.isEnabledFor(level):
            error, text = fields.pop("exc_info", None), fields.pop("exception", None)
            parts = " ".join([event, *(f"{key}={value!r}" for key, value in fields.items())])
            # As an argument: a stray % in a value is not a format.
            self._logger.log(level, "%s", parts if text is None else f"{parts}\n{text}", exc_info=error)

    def _logger_of(self, structlog: Any) -> Any:
        """Return the logger of the present configuration: making one takes longer than writing a line."""
        processors = structlog.get_config()["processors"]
        if self._bound is None or processors is not self._processors:
            self._bound, self._processors = structlog.get_logger(self._logger.name).bind(), processors
        return self._bound


def get_logger(name: str) -> Logger:
    return Logger(name)


def log_enabled(name: str, level: int = logging.INFO) -> Callable[[], bool]:
    """Return a check for whether an entry would be written: building thousands for nothing costs too much."""
    logger = logging.getLogger(name)
    return lambda: _configured_structlog() is not None or logger.isEnabledFor(level)


def _configured_structlog() -> Any:
    """Return structlog if the program has imported and configured it.

    It is not imported here, for it imports rich and pygments: a fifth of the time until a worker process can start.
    """
    structlog = sys.modules.get("structlog")
    is_configured = getattr(structlog, "is_configured", None)  # None while another thread is importing it.
    return structlog if is_configured is not None and is_configured() else None
