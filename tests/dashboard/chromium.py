"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator

from playwright.async_api import Browser, async_playwright

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


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Run a browser for the block. Without one, the test is skipped on a laptop and fails under CI."""
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        unavailable("no Chromium; install Debian's package chromium")
    async with async_playwright() as driver:
        started = await driver.chromium.launch(executable_path=program, args=_ARGUMENTS, timeout=120_000)
        try:
            yield started
        finally:
            await started.close()
