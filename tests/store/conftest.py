"""An open store of each database, migrated and empty."""

from collections.abc import AsyncIterator

import pytest
import uuid_utils

from hanbeon.clock import SystemClock
from hanbeon.store.port import Store, migrate, open_store


def new_id() -> str:
    return str(uuid_utils.uuid7())


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    await migrate(database_url)
    opened = open_store(database_url, SystemClock())
    await opened.open()
    try:
        yield opened
    finally:
        await opened.close()
