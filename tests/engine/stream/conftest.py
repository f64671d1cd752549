"""An App whose stream tasks go to a Valkey of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from tests.databases.valkey import ValkeyServer


@pytest.fixture
async def streaming(database_url: str, valkey: ValkeyServer) -> AsyncIterator[App]:
    async with App(database_url, redis_url=valkey.url, stop_grace=0.5) as app:
        app.stream("thumb", "thumbs", retries=0, timeout="5m")
        yield app


@pytest.fixture
async def streaming_here(sqlite_url: str, valkey: ValkeyServer) -> AsyncIterator[App]:
    """On SQLite alone: for what happens in Redis and in workers."""
    async with App(sqlite_url, redis_url=valkey.url, stop_grace=0.5) as app:
        app.stream("thumb", "thumbs", retries=0, timeout="5m")
        yield app
