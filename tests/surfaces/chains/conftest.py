"""Chains on each store in turn, worked by hand on a clock that stands still."""

from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.store.conftest import pytest_generate_tests, shared_database, world
from tests.surfaces.chains.chain_kit import LIBRARY, ChainKit

__all__ = [
    "chain_kit",
    "pytest_generate_tests",
    "shared_database",
    "world",
]  # Those of the store, for the recorded walks.


@pytest.fixture
async def chain_kit(database_url: str) -> AsyncIterator[ChainKit]:
    app = App(chain_libraries=LIBRARY)
    async with TestKit(app, database_url) as kit:
        yield ChainKit(kit)
