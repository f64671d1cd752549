"""Chains on each store in turn, worked by hand on a clock that stands still."""

from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.surfaces.chains.chain_kit import LIBRARY, ChainKit


@pytest.fixture
async def chain_kit(database_url: str) -> AsyncIterator[ChainKit]:
    app = App(chain_libraries=LIBRARY)
    async with TestKit(app, database_url) as kit:
        yield ChainKit(kit)
