"""The program that keeps dashboards open: `python -m bench.open_pages SERVER TOKEN PAGES`, until it is killed.

Each page has a login of its own and asks what the home page of the dashboard asks, when it asks: `HOME` and `Hints` are
`dashboard/src/home.tsx` and `live.ts` again, and `tests/dashboard/test_open_pages.py` holds them against the real page.
Timers go by the clock, like those of the pages; what follows changes is spread evenly at first, as on pages that were
opened at different times. Each second it prints a line
of JSON with the number of requests and hints so far, and the median of the latest requests in milliseconds.
"""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from bench import numbers
from hanbeon.cli.event_loop import run

CHANGES = "/ws/engine/changes"
AFTER_HINTS = 0.5
"""By how much the timer of what follows hints is longer, so that both do not go off in the same moment."""
_LATEST = 1_000
_TEXT, _PING, _PONG = 0x81, 0x89, 0x8A


class Poll(NamedTuple):
    """A request that a page repeats by the clock; if it follows, at a hint of changes and so long after the last."""

    path: str
    seconds: float
    follows: bool = False

    def target(self, now: float) -> str:
        """The path and query, as sent at this time."""
        hour_ago = dt.datetime.fromtimestamp(now // 60 * 60 - 3_600, dt.UTC).isoformat(timespec="milliseconds")
        return self.path.format(hour_ago=hour_ago.replace("+00:00", "Z").replace(":", "%3A"))


HOME = (
    Poll("/api/engine/statistics?from={hour_ago}&step=60", 30),
    Poll("/api/engine/overview", 10),
    Poll("/api/engine/failures?limit=30", 30),
    Poll("/api/engine/jobs?state=running&own=true&limit=12", 10, follows=True),
    Poll("/api/chains?state=BLOCKED&limit=5", 10),
    Poll("/api/scheduler/monitor", 10),
    Poll("/healthz", 60),
)


class Hints:
    """When a page follows the hints of changes: at most once a second, and ever more slowly while they do not cease."""

    EVERY, SLOWEST = 1.0, 10.0

    def __init__(self) -> None:
        self._followed_at, self._pace = -float("inf"), self.EVERY

    def wait(self, now: float) -> float:
        """Return how long to wait before a hint that came now is followed, by the clock of all pages."""
        if now - self._followed_at >= 2 * self._pace:
            self._pace = self.EVERY
            return 0.0
        self._pace = min(self.SLOWEST, self._pace * 2)
        return self._pace - now % self._pace

    def followed(self, now: float) -> None:
        self._followed_at = now


class Connection:
    """One open connection to the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, method: str, target: str, headers: dict[str, str], body: bytes = b"") -> dict[str, str]:
        """Send a request, read the answer, and return its headers; raise unless it is a success."""
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self._writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        first, *rest = (await self._reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        found = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
        content = await self._reader.readexactly(int(found.get("content-length", 0)))
        if int(first.split()[1]) not in (101, 200):
            raise SystemExit(f"{method} {target} returned {first}: {content[:200].decode()}")
        return found

    async def follow(self, target: str, headers: dict[str, str], message: Callable[[], None]) -> None:
        """Open a WebSocket, and call `message` for each of its messages until it ends."""
        key = base64.b64encode(os.urandom(16)).decode()
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        await self.ask("GET", target, {**headers, **upgrade, "Sec-WebSocket-Key": key})
        while True:
            kind, size = await self._reader.readexactly(2)
            content = await self._reader.readexactly(size)  # All of them are short.
            if kind == _TEXT:
                message()
            elif kind == _PING:
                self._writer.write(bytes((_PONG, 0x80 | size, 0, 0, 0, 0)) + content)
            else:
                raise SystemExit(f"{target} ended: {content[2:].decode()}")


class Site:
    """The server, and what was asked of it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self._place = parts.netloc, (str(parts.hostname), parts.port or 80)
        self.requests = self.hints = 0
        self.latest: deque[float] = deque(maxlen=_LATEST)

    async def connect(self) -> Connection:
        return Connection(*await asyncio.open_connection(*self._place))


class Page:
    """One open home page. Like a browser it keeps connections, and opens another when all are busy."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._headers = {"Host": site.host}
        self._idle: list[Connection] = []
        self._changed: list[asyncio.Event] = []
        self._hints = Hints()
        self._due: asyncio.TimerHandle | None = None

    async def log_in(self, token: str) -> None:
        connection = await self._site.connect()
        answer = await connection.ask("POST", "/api/session", self._headers, json.dumps({"token": token}).encode())
        self._headers["Cookie"] = answer["set-cookie"].partition(";")[0]

    async def stay(self, share: float) -> None:
        """Stay open. `share`: how much of their time the timers have left at first."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow())
            for poll in HOME:
                group.create_task(self._poll(poll, share))

    async def _follow(self) -> None:
        await (await self._site.connect()).follow(CHANGES, self._headers, self._hinted)

    def _hinted(self) -> None:
        self._site.hints += 1
        loop = asyncio.get_running_loop()
        if self._due is None:
            self._due = loop.call_later(self._hints.wait(time.time()), self._tell)

    def _tell(self) -> None:
        self._due = None
        self._hints.followed(time.time())
        for each in self._changed:
            each.set()

    async def _poll(self, poll: Poll, share: float) -> None:
        changed = asyncio.Event()
        if poll.follows:
            self._changed.append(changed)
        seconds = poll.seconds * share
        while True:
            changed.clear()
            now = time.time()
            due = time.monotonic() + (seconds + AFTER_HINTS if poll.follows else poll.seconds - now % poll.seconds)
            await self._ask(poll.target(now))
            try:
                async with asyncio.timeout(due - time.monotonic()):
                    await changed.wait()
            except TimeoutError:
                pass
            seconds = poll.seconds

    async def _ask(self, target: str) -> None:
        began = time.perf_counter()
        while True:
            connection, used = (self._idle.pop(), True) if self._idle else (await self._site.connect(), False)
            try:
                await connection.ask("GET", target, self._headers)
                break
            except (ConnectionError, asyncio.IncompleteReadError):
                if not used:
                    raise
                # The server has closed it meanwhile, as it does with idle ones.
        self._idle.append(connection)
        self._site.requests += 1
        self._site.latest.append((time.perf_counter() - began) * 1e3)


async def main(url: str, token: str, count: int) -> None:
    site = Site(url)
    pages = [Page(site) for _ in range(count)]
    for page in pages:
        await page.log_in(token)
    async with asyncio.TaskGroup() as group:
        for number, page in enumerate(pages):
            group.create_task(page.stay((number + 1) / count))
        while True:
            await asyncio.sleep(1)
            p50 = numbers.percentile(site.latest, 0.5) if site.latest else 0.0
            print(json.dumps({"requests": site.requests, "hints": site.hints, "p50": p50}), flush=True)


if __name__ == "__main__":
    server, token, pages = sys.argv[1:]
    run(main(server, token, int(pages)))
