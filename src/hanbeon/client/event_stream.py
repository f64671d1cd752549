"""Events of a server's stream (SSE): reconnects by itself, and goes on behind the last event it told."""

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
    """For ever, none left out and none twice; ends with an error when the server was away for too long."""
    patience = RetryBudget(retry, repeatable=True)
    while True:
        request = request_of(route, ids, Fill(query={"after": after}))
        came: Response | NoResponse = yield Open(request)
        while not isinstance(came, NoResponse) and came.status == 200:
            event, lost = yield from _next_event()
            if lost is not None:
                came = lost
            else:
                patience.begin_again()  # Also a beat between events shows that the server is there.
            if event is not None and event.id > after:
                after = event.id
                yield Emit(event)
        pause = patience.pause(came)
        if pause is None:
            if isinstance(came, NoResponse):
                raise Unreachable(came.why)
            return result_of(route, came)
        yield Sleep(pause)


def _next_event() -> Generator[Step, Any, tuple[SchedulerEvent | None, NoResponse | None]]:
    """The next message of the stream if it is an event of a kind that this release knows, and how the stream stands."""
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
