"""Events of a server's stream (SSE): reconnects by itself and resumes after the last event delivered."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import msgspec

from hanbeon.client.calls import RetryBudget, RetryConfig
from hanbeon.client.flow import Emit, NextLine, NoResponse, Open, Response, Sleep, Step, Stream
from hanbeon.client.problems import Unreachable
from hanbeon.client.route import Fill, Route, request_of, result_of
from hanbeon.surfaces.offices.schemas import SchedulerEvent
from hanbeon.surfaces.offices.vocabulary import EventType

_KNOWN = frozenset(EventType)
_decoder = msgspec.json.Decoder(SchedulerEvent)


def follow(retry: RetryConfig, route: Route[None], ids: Mapping[str, str], after: int) -> Stream[SchedulerEvent]:
    """Yield events without end, each exactly once; raises when the server was unreachable for too long."""
    budget = RetryBudget(retry, repeatable=True)
    while True:
        request = request_of(route, ids, Fill(query={"after": after}))
        came: Response | NoResponse = yield Open(request)
        while not isinstance(came, NoResponse) and came.status == 200:
            event, lost = yield from _next_event()
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
            return result_of(route, came)
        yield Sleep(pause)


def _next_event() -> Generator[Step, Any, tuple[SchedulerEvent | None, NoResponse | None]]:
    """Return the next message if it is an event of a type that this release knows, and the failure of the stream."""
    kind, data = "", ""
    while True:
        line: str | NoResponse = yield NextLine()
        if isinstance(line, NoResponse):
            return None, line
        if not line:
            return (_decoder.decode(data.encode()) if kind in _KNOWN and data else None), None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            kind = value
        elif name == "data":
            data = f"{data}\n{value}" if data else value
