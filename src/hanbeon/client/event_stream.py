"""Events of a server's stream (SSE): reconnects by itself and resumes after the last event delivered."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, get_type_hints

import msgspec

from hanbeon.client.calls import Fill, RetryBudget, RetryConfig, check, request_of
from hanbeon.client.flow import Emit, NextLine, NoResponse, Open, Response, Sleep, Step, Stream
from hanbeon.client.problems import Unreachable
from hanbeon.domain.event_cursor import GapReason
from hanbeon.errors import EventsMissed
from hanbeon.surfaces.operation import Channel


class _Message(NamedTuple):
    """A message of the stream; without a type it is a keep-alive."""

    type: str
    id: str
    data: str


def follow(retry: RetryConfig, channel: Channel, fill: Fill) -> Stream[Any]:
    """Yield events without end, each exactly once; raises when the server was unreachable for too long.

    It resumes by the cursor that the server gave, which names the incarnation of the database: after a restore the
    server refuses it, instead of continuing with other events under the same ids.
    """
    budget = RetryBudget(retry, repeatable=True)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(channel.event)
    known = frozenset(get_type_hints(channel.event)["type"])
    cursor, seen = fill.query["after"], 0
    while True:
        request = request_of("GET", channel.sse, fill._replace(query={"after": cursor}))
        came: Response | NoResponse = yield Open(request)
        while not isinstance(came, NoResponse) and came.status == 200:
            message, lost = yield from _next_message()
            if lost is not None:
                came = lost
                continue
            budget.begin_again()  # A keep-alive between events also shows that the server is there.
            cursor = message.id or cursor
            if message.type == "gap":
                _check_gap(message)
            elif message.type in known and message.data:
                event = decoder.decode(message.data.encode())
                if event.id > seen:
                    seen = event.id
                    yield Emit(event)
        pause = budget.pause(came)
        if pause is None:
            if isinstance(came, NoResponse):
                raise Unreachable(came.why)
            return check(came)
        yield Sleep(pause)


def _check_gap(message: _Message) -> None:
    """Raise for events that are gone; those of a client that was only slow still come."""
    gap = msgspec.json.decode(message.data.encode(), type=dict[str, Any])
    if gap.get("reason", GapReason.SLOW) != GapReason.SLOW:
        raise EventsMissed(gap["reason"], gap["after"])


def _next_message() -> Generator[Step, Any, tuple[_Message, NoResponse | None]]:
    """Return the next message, and the failure of the stream."""
    fields = {"event": "", "id": "", "data": ""}
    while True:
        line: str | NoResponse = yield NextLine()
        if isinstance(line, NoResponse):
            return _Message("", "", ""), line
        if not line:
            return _Message(fields["event"], fields["id"], fields["data"]), None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data" and fields["data"]:
            fields["data"] += f"\n{value}"
        elif name in fields:
            fields[name] = value
