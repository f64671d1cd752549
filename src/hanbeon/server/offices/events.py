"""The events of an office as a stream of the server's (SSE): resumable, quiet when nothing happens, ended by a stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from hanbeon.domain.access import Need
from hanbeon.domain.job import check_whole
from hanbeon.errors import DatabaseUnavailable, InvalidInput
from hanbeon.server.ask import Ask
from hanbeon.server.offices.desk import OFFICE
from hanbeon.server.operation import Operation
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.offices.shapes import SchedulerEvent

_BEAT_SECONDS = 15.0
_RETRY_MS = 1_000
_HEADERS = {"X-Accel-Buffering": "no"}  # Proxies that collect before they pass on would make it late.


def operations(offices: Offices, stopping: asyncio.Event) -> list[Operation]:
    async def events(ask: Ask) -> Response:
        office_id, after = ask.path("id"), _after(ask)
        check_whole("after", after, 0)
        await offices.get(office_id)  # Refused now, or never: what has begun to stream has its status already.
        stream = _stream(offices.follow(office_id, after), stopping)
        return StreamingResponse(stream, media_type="text/event-stream", headers=_HEADERS)

    return [
        Operation(
            *("GET", f"{OFFICE}/events", Need.READ, events, "Follow what happens (SSE); go on behind `after`."),
            query={"after": int},
        )
    ]


def _after(ask: Ask) -> Any:
    """Where to go on. A browser that reconnects tells by a header what it saw last."""
    seen = ask.request.headers.get("last-event-id")
    if seen is None:
        return ask.query.get("after", 0)
    if not (seen.isascii() and seen.isdecimal() and len(seen) < 19):
        raise InvalidInput("it is no id of an event", field="Last-Event-ID")
    return int(seen)


async def _stream(events: AsyncIterator[SchedulerEvent], stopping: asyncio.Event) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    stopped = loop.create_task(stopping.wait())
    coming: asyncio.Task[SchedulerEvent] | None = None
    try:
        yield f"retry: {_RETRY_MS}\n\n".encode()
        while not stopped.done():
            coming = coming or loop.create_task(_next(events))
            await asyncio.wait([coming, stopped], timeout=_BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                yield b": still here\n\n"
                continue
            event, coming = coming.result(), None
            yield b"id: %d\nevent: %s\ndata: %s\n\n" % (event.id, event.type.encode(), msgspec.json.encode(event))
    except DatabaseUnavailable:
        return  # It ends; whoever follows comes again and goes on where it was.
    finally:
        for task in (stopped, coming):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, DatabaseUnavailable):
                    await task


async def _next(events: AsyncIterator[SchedulerEvent]) -> SchedulerEvent:
    return await anext(events)
