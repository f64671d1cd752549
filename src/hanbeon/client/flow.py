"""The steps of a conversation with a server, without any I/O.

A flow is a generator: it yields steps and is sent their results. A transport performs the steps, with or without
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
    upload: str | None = None
    """The path of a file to send as `file` of a form."""
    save: str | None = None
    """The path of a new file for the body of a response with status 200."""


class Response(NamedTuple):
    """Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoResponse(NamedTuple):
    """No response came. `sent`: the server may have received the request and carried it out."""

    why: str
    sent: bool


class Send(NamedTuple):
    """Send a request. Its result is a `Response` or `NoResponse`."""

    request: Request


class Open(NamedTuple):
    """Open a stream. Its result is a `Response`, whose body is empty while its lines are unread, or `NoResponse`."""

    request: Request


class NextLine(NamedTuple):
    """Read a line. Its result is the next line of the open stream, or `NoResponse` once the stream has ended."""


class Sleep(NamedTuple):
    seconds: float


class Emit(NamedTuple, Generic[T]):
    """One item for the consumer of a stream."""

    value: T


Step = Send | Open | NextLine | Sleep
Flow = Generator[Step, Any, T]
"""Returns one result."""
Stream = Generator[Step | Emit[T], Any, None]
"""Emits many items."""
