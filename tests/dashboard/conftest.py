"""A real browser. Without it or the built dashboard, tests skip on a laptop and fail under CI."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from hanbeon.server.docs_pages import FOLDER
from tests.absence import unavailable
from tests.dashboard.chromium import chromium


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if not (FOLDER / "dashboard" / "index.html").exists():
        unavailable("the dashboard is not built; `make setup` builds it where the npm registry can be reached")
    async with chromium() as started:
        yield started
