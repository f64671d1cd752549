"""Trace contexts (W3C Trace Context): who caused a job, as text that is stored with it and passed on.

Headers come from anybody. What is not exactly as the recommendation says is ignored, and never longer than here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

STATE_LIMIT = 512
"""The most characters of a tracestate; a longer one is dropped, as the recommendation allows."""
_MEMBERS_LIMIT = 32
_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[ -~]*)?", re.ASCII)
_KEY = r"[a-z0-9][a-z0-9_\-*/]{0,240}(@[a-z][a-z0-9_\-*/]{0,13})?"
_MEMBER = re.compile(rf"{_KEY}=[ -+\--<>-~]{{0,255}}[!-+\--<>-~]", re.ASCII)
_PARENT_LIMIT = 200
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
_INVALID_VERSION = "ff"


class TraceContext(NamedTuple):
    """A span elsewhere: its `traceparent`, and the `tracestate` that belongs to it or nothing."""

    traceparent: str
    tracestate: str = ""

    @property
    def text(self) -> str:
        """The stored form; `parse_text` reads it."""
        return f"{self.traceparent} {self.tracestate}".rstrip()

    @property
    def headers(self) -> dict[str, str]:
        found = {"traceparent": self.traceparent}
        return {**found, "tracestate": self.tracestate} if self.tracestate else found

    @property
    def trace_id(self) -> int:
        return int(self.traceparent[3:35], 16)

    @property
    def span_id(self) -> int:
        return int(self.traceparent[36:52], 16)

    @property
    def flags(self) -> int:
        return int(self.traceparent[53:55], 16)


def of_span(trace_id: int, span_id: int, flags: int, tracestate: str = "") -> TraceContext | None:
    """Return the context of a span by its numbers; None if these are invalid."""
    return parse(f"00-{trace_id:032x}-{span_id:016x}-{flags & 1:02x}", tracestate)


def parse(traceparent: str | None, tracestate: str | None = None) -> TraceContext | None:
    """Return the context of two headers; None if the first is invalid. An invalid second one is dropped."""
    if traceparent is None or len(traceparent) > _PARENT_LIMIT:
        return None
    found = _PARENT.fullmatch(traceparent.strip(" \t"))
    if found is None:
        return None
    version, trace, span, flags, rest = found.groups()
    if version == _INVALID_VERSION or trace == _NO_TRACE or span == _NO_SPAN or (version == "00" and rest):
        return None
    # Of a later version only these parts are known, and of the flags only whether it is sampled.
    return TraceContext(f"00-{trace}-{span}-{int(flags, 16) & 1:02x}", _state(tracestate or ""))


def parse_text(text: str | None) -> TraceContext | None:
    """Return the context of a stored text; None for anything else."""
    if not text:
        return None
    traceparent, _, tracestate = text.partition(" ")
    return parse(traceparent, tracestate)


def _state(text: str) -> str:
    if len(text) > STATE_LIMIT:
        return ""
    members = [member.strip(" \t") for member in text.split(",")]
    members = [member for member in members if member]
    keys = [member.partition("=")[0] for member in members]
    if len(members) > _MEMBERS_LIMIT or len(set(keys)) < len(keys) or not all(map(_MEMBER.fullmatch, members)):
        return ""
    return ",".join(members)


_current: ContextVar[TraceContext | None] = ContextVar("hanbeon_trace", default=None)


def current_trace() -> TraceContext | None:
    """The span that this task or thread works for; always None while tracing is off."""
    return _current.get()


@contextlib.contextmanager
def working_for(context: TraceContext | None) -> Iterator[None]:
    """Work for this span inside; jobs that are created there are caused by it."""
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)
