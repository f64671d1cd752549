"""What a conversation with a server is made of, without any I/O.

A flow is a generator: it yields steps and is sent what came of each. Whoever drives it does the steps, with or without
an event loop, so that retrying, paging and resuming are written once for both clients.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Request(NamedTuple):
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = {}
    body: bytes | None = None


class Response(NamedTuple):
    """Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoResponse(NamedTuple):
    """No answer came. `sent`: the server may have got the request, and may have done what it asks."""

    why: str
    sent: bool


class Send(NamedTuple):
    """Sent back: an Answer, or Lost."""

    request: Request


class Open(NamedTuple):
    """Ask for a stream. Sent back: an Answer, whose body is empty while its lines are to be read, or Lost."""

    request: Request


class NextLine(NamedTuple):
    """Sent back: the next line of the open stream, or Lost when it has ended, however it did."""


class Sleep(NamedTuple):
    seconds: float


class Emit(NamedTuple, Generic[T]):
    """One thing for whoever iterates over a stream."""

    value: T


Step = Send | Open | NextLine | Sleep
Flow = Generator[Step, Any, T]
"""Ends with one thing."""
Stream = Generator[Step | Emit[T], Any, None]
"""Tells many."""
