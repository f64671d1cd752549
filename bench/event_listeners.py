"""Follows an office with many WebSockets, creates jobs in it, and prints how late each event arrives.

`python -m bench.event_listeners SERVER OFFICE LISTENERS JOBS SECONDS` prints one JSON object at the end. A listener is
a socket that reads the clock when a frame arrives: the work of a real client is not measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import Any
from urllib.parse import urlsplit

from bench import numbers
from hanbeon import App
from hanbeon.surfaces.offices.service import Offices

_WARM_UP = 10
_TIMEOUT = 60.0
_LONG = 126
_OPENED = b'"type":"opened"'
"""Of the first message, which is no event."""


class Listener(asyncio.Protocol):
    """One WebSocket and the arrival time of each of its messages."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._data = b""
        self.open = asyncio.get_running_loop().create_future()
        self.arrived_at: list[float] = []

    def connection_made(self, transport: Any) -> None:
        lines = [f"GET {self._path} HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket"]
        lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""]
        transport.write("\r\n".join(lines).encode())

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._data += data
        if not self.open.done():
            head, end, self._data = self._data.partition(b"\r\n\r\n")
            if not end:
                self._data = head
                return
            self.open.set_result(b" 101 " in head)
        while len(self._data) >= 4:
            size, start = self._data[1], 2
            if size == _LONG:
                size, start = int.from_bytes(self._data[2:4], "big"), 4
            if len(self._data) < start + size:
                return
            if self._data[0] == 0x81 and _OPENED not in self._data[start : start + size]:
                self.arrived_at.append(now)
            self._data = self._data[start + size :]


async def follow(place: str, office: str, listeners: int, jobs: int, every: float) -> dict[str, float]:
    """Create a job every `every` seconds, and return the milliseconds until all listeners have its event."""
    app = App(os.environ["BENCH_URL"])
    app.task(name="nothing")(_nothing)
    async with app:
        offices = Offices(app)
        open_listeners = [await _listen(place, office) for _ in range(listeners)]
        enqueued_at: list[float] = []
        for number in range(_WARM_UP + jobs):
            enqueued_at.append(time.perf_counter())
            await offices.create_jobs(office, jobs=[{"handler": "nothing"}])
            await _until(open_listeners, number + 1)
            await asyncio.sleep(every)
    waits = [
        (arrived_at - before) * 1e3
        for each in open_listeners
        for before, arrived_at in list(zip(enqueued_at, each.arrived_at, strict=True))[_WARM_UP:]
    ]
    return {f"p{share}": numbers.percentile(waits, share / 100) for share in (50, 95, 99)} | {"max": max(waits)}


async def _listen(place: str, office: str) -> Listener:
    parts, path = urlsplit(place), f"/ws/offices/{office}/events"
    loop = asyncio.get_running_loop()
    _, listener = await loop.create_connection(lambda: Listener(path), str(parts.hostname), parts.port or 0)
    async with asyncio.timeout(_TIMEOUT):
        if not await listener.open:
            raise RuntimeError("the server refused a listener")
    return listener


async def _until(open_listeners: list[Listener], number: int) -> None:
    async with asyncio.timeout(_TIMEOUT):
        while any(len(each.arrived_at) < number for each in open_listeners):  # noqa: ASYNC110 - an event would cost time of its own
            await asyncio.sleep(0.005)


async def _nothing() -> None:
    """Placeholder; no worker runs it."""


if __name__ == "__main__":
    url, office_id, listeners, jobs, every = sys.argv[1:]
    print(json.dumps(asyncio.run(follow(url, office_id, int(listeners), int(jobs), float(every)))))
