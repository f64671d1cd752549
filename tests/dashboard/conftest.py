"""A real browser. Without it or the built dashboard, tests skip on a laptop and fail under CI."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from hanbeon.server.docs_pages import FOLDER
from tests.absence import unavailable
from tests.dashboard.chromium import chromium

_MARK = 'pytestmark = pytest.mark.asyncio(loop_scope="session")'


class KeptBrowser:
    """The browser of this process: a start takes two seconds of a core, and a context isolates a test as well."""

    def __init__(self) -> None:
        self._running: Browser | None = None
        self._ending = AsyncExitStack()

    async def get(self) -> Browser:
        """Return the running browser, or a new one if it crashed."""
        if self._running is None or not self._running.is_connected():
            await self.close()
            self._running = await self._ending.enter_async_context(chromium())
        return self._running

    async def close(self) -> None:
        await self._ending.aclose()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kept_browser() -> AsyncIterator[KeptBrowser]:
    kept = KeptBrowser()
    yield kept
    await kept.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(request: pytest.FixtureRequest, kept_browser: KeptBrowser) -> AsyncIterator[Browser]:
    """The browser of this process, without any page. It belongs to the loop of the session, and so must the test."""
    scopes = [mark.kwargs.get("loop_scope") for mark in request.node.iter_markers("asyncio")]
    assert scopes[:1] == ["session"], f"its module needs `{_MARK}`"
    if not (FOLDER / "dashboard" / "index.html").exists():
        unavailable("the dashboard is not built; `make setup` builds it where the npm registry can be reached")
    running = await kept_browser.get()
    try:
        yield running
    finally:
        for context in running.contexts:
            await context.close()
