"""Servers for tests."""

from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from tests.server.client import Client, serving


@pytest.fixture
async def server(app: App) -> AsyncIterator[Client]:
    """A client of a server without a worker, on each store in turn."""
    async with serving(app) as client:
        yield client
