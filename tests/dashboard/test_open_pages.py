"""The benchmark's open pages ask what the real home page asks, as often."""

from __future__ import annotations

import asyncio
from collections import Counter
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.async_api import Browser, Request, WebSocketRoute

from bench.open_pages import AFTER_HINTS, CHANGES, HOME, Hints, Poll
from hanbeon import App
from tests.server.client import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

_SECONDS = 60


def _asked(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The path and the query, of which `from` is a time."""
    parts = urlsplit(target)
    query = [(name, "" if name == "from" else value) for name, value in parse_qsl(parts.query)]
    return parts.path, tuple(sorted(query))


def _followed(poll: Poll, seconds: int) -> int:
    """How often a poll is asked while there is a hint every second."""
    hints, due, timer, count = Hints(), float("inf"), poll.seconds + AFTER_HINTS, 0
    for now in range(seconds):
        if due == float("inf"):
            due = now + hints.wait(now)
        if due <= now or timer <= now:
            if due <= now:
                hints.followed(now)
                due = float("inf")
            count, timer = count + 1, now + poll.seconds + AFTER_HINTS
    return count


@pytest.mark.slow
async def test_open_pages_ask_as_the_home_page_does(browser: Browser, sqlite_url: str) -> None:
    under_way: set[Request] = set()
    asked: list[str] = []
    sockets: list[WebSocketRoute] = []

    def sent(request: Request) -> None:
        under_way.add(request)
        asked.append(request.url)

    def answered(request: Request) -> None:
        under_way.discard(request)

    def connected(socket: WebSocketRoute) -> None:
        sockets.append(socket)

    async with App(sqlite_url) as app, serving(app) as server:
        page = await browser.new_page()
        await page.clock.install()
        await page.route_web_socket(f"**{CHANGES}?*", connected)
        await page.goto(server.url)
        await page.get_by_role("heading", name="Home").wait_for()
        page.on("request", sent)
        for each in ("requestfinished", "requestfailed"):
            page.on(each, answered)

        async def minute(hint: str | None) -> Counter[tuple[str, tuple[tuple[str, str], ...]]]:
            asked.clear()
            for _ in range(_SECONDS):
                if hint is not None:
                    sockets[-1].send(hint)
                await page.clock.run_for(1_000)
                async with asyncio.timeout(60):
                    while under_way:  # noqa: ASYNC110 - requests have no event for that
                        await asyncio.sleep(0.01)
            return Counter(_asked(url) for url in asked)

        await minute(None)
        quiet, busy = await minute(None), await minute("{}")
    expected = {_asked(each.target(0)): each for each in HOME}
    assert quiet.keys() == busy.keys() == expected.keys()
    for place, poll in expected.items():
        assert abs(quiet[place] - _SECONDS / poll.seconds) <= 1, place
        often = _followed(poll, _SECONDS) if poll.follows else _SECONDS / poll.seconds
        # Where in its ten seconds the clock of the page begins is worth one more.
        assert abs(busy[place] - often) <= 1 + poll.follows, place
