"""A real browser: Debian's Chromium, driven by Playwright. Without it, tests skip on a laptop and fail under CI."""

import shutil
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, async_playwright

from hanbeon.server.docs_pages import FOLDER
from tests.absence import unavailable

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# Without the network, a browser that looks for updates would wait for them.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        unavailable("no Chromium; install Debian's package chromium")
    if not (FOLDER / "dashboard" / "index.html").exists():
        unavailable("the dashboard is not built; `make setup` builds it where the npm registry can be reached")
    async with async_playwright() as driver:
        started = await driver.chromium.launch(executable_path=program, args=_ARGUMENTS, timeout=120_000)
        try:
            yield started
        finally:
            await started.close()
