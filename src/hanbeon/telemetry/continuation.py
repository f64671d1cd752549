"""Continues an attempt's trace in a worker process: spans of its body are children of the attempt's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hanbeon.domain.trace_context import parse_text, working_for
from hanbeon.logs import get_logger

_log = get_logger("hanbeon.telemetry")


@contextlib.contextmanager
def continuing(text: str) -> Iterator[None]:
    """Work for the span of this context. A trace that cannot be continued costs the body nothing."""
    given = parse_text(text)
    with working_for(given), contextlib.ExitStack() as stack:
        try:
            from hanbeon.telemetry.tracer import Tracer

            stack.enter_context(Tracer().remote(given))
        except Exception:
            _log.warning("trace_not_continued", exc_info=True)
        yield
