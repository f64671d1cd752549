"""Logs as a library should: through Python's logging, or through structlog where the program has configured it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import structlog


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a logger that is silent below WARNING until logging is configured, and never writes to stdout itself."""
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(name), processors=[_forward], wrapper_class=structlog.stdlib.BoundLogger
    )
    return logger


def log_enabled(name: str, level: int = logging.INFO) -> Callable[[], bool]:
    """Return a check for whether an entry would be written: building thousands in vain costs too much."""
    logger = logging.getLogger(name)
    return lambda: structlog.is_configured() or logger.isEnabledFor(level)


def _forward(logger: logging.Logger, method: str, event: Any) -> Any:
    if structlog.is_configured():
        try:
            getattr(structlog.get_logger(logger.name), method)(**event)
        except Exception:
            # A program's own pipeline: an odd message that it cannot write must not end the attempt that it is about.
            logger.exception("a log entry could not be written")
        raise structlog.DropEvent
    level = logging.ERROR if method == "exception" else logging.getLevelNamesMapping()[method.upper()]
    if not logger.isEnabledFor(level):
        raise structlog.DropEvent
    error = event.pop("exc_info", None)
    parts = [str(event.pop("event")), *(f"{key}={value!r}" for key, value in event.items())]
    # As an argument: a stray % in a value is not a format.
    return ("%s", " ".join(parts)), {"exc_info": error}
