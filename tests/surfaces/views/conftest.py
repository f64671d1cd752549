"""Offices and schedules on each store in turn, with a SQL reader."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.surfaces.views.reader import Reader

# Ahead of every host: a view on SQLite has the host's clock, by which no deadline of these has passed.
FAR = dt.datetime(2190, 3, 1, 9, 0, 0, 123_456, tzinfo=dt.UTC)


@pytest.fixture
async def far_kit(kit_url: str) -> AsyncIterator[TestKit]:
    async with TestKit(App(), kit_url, start=FAR, limit=20) as kit:
        yield kit


@pytest.fixture
async def reader(kit_url: str) -> AsyncIterator[Reader]:
    async with Reader(kit_url) as reader:
        yield reader
