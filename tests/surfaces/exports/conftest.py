"""Servers that export, on each store in turn, with files below the folder of the test."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from tests.server.client import Client, serving


@pytest.fixture
async def app(database_url: str, tmp_path: Path) -> AsyncIterator[App]:
    folders: dict[str, Any] = {"jobs_export_path": str(tmp_path / "exports"), "replay_path": str(tmp_path / "replays")}
    async with App(database_url, watch=0.05, **folders) as app:
        yield app


@pytest.fixture
async def server(app: App) -> AsyncIterator[Client]:
    """A server without a worker: exports stay QUEUED."""
    async with serving(app) as client:
        yield client


@pytest.fixture
async def working(app: App) -> AsyncIterator[Client]:
    async with serving(app, work=True) as client:
        yield client
