"""Events of a server's stream (SSE): reconnects by itself and resumes after the last event delivered."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, get_type_hints

import msgspec

from hanbeon.client.calls import RetryBudget, RetryConfig
from hanbeon.client.flow import Emit, NextLine, NoResponse, Open, Response, Sleep, Step, Stream
from hanbeon.client.problems import Unreachable
from hanbeon.client.route import Fill, check, request_of
from hanbeon.surfaces.operation import Channel


def follow(retry: RetryConfig, channel: Channel, fill: Fill) -> Stream[Any]:
    """Yield events without end, each exactly once; raises when the server was unreachable for too long."""
    budget = RetryBudget(retry, repeatable=True)
    after: int = fill.query["after"]
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(channel.event)
    known = frozenset(get_type_hints(channel.event)["type"])
    while True:
        request = request_of("GET", channel.sse, fill._replace(query={"after": after}))
        came: Response | NoResponse = yield Open(request)
        while not isinstance(came, NoResponse) and came.status == 200:
            event, lost = yield from _next_event(decoder, known)
            if lost is not None:
                came = lost
            else:
                budget.begin_again()  # A keep-alive between events also shows that the server is there.
            if event is not None and event.id > after:
                after = event.id
                yield Emit(event)
        pause = budget.pause(came)
        if pause is None:
            if isinstance(came, NoResponse):
                raise Unreachable(came.why)
            return check(came)
        yield Sleep(pause)


def _next_event(
    decoder: msgspec.json.Decoder[Any], known: frozenset[str]
) -> Generator[Step, Any, tuple[Any, NoResponse | None]]:
    """Return the next message if it is an event of a type that this release knows, and the failure of the stream."""
    kind, data = "", ""
    while True:
        line: str | NoResponse = yield NextLine()
        if isinstance(line, NoResponse):
            return None, line
        if not line:
            return (decoder.decode(data.encode()) if kind in known and data else None), None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            kind = value
        elif name == "data":
            data = f"{data}\n{value}" if data else value
