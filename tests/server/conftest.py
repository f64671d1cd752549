"""Servers for tests."""

import shutil
from collections.abc import AsyncIterator, Iterator

import pytest

from hanbeon import App
from tests.databases.run import SERVERS
from tests.server.client import Client, serving
from tests.server.shared_server import server_in_thread


@pytest.fixture
async def server(app: App) -> AsyncIterator[Client]:
    """A client of a server without a worker, on each store in turn."""
    async with serving(app) as client:
        yield client


@pytest.fixture(scope="module")
def sqlite_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of one server for a whole module, with a task `report`: for what is refused before a store is asked."""
    path = tmp_path_factory.mktemp("server") / "hanbeon.db"
    shutil.copy(request.config.stash[SERVERS].migrated_file(), path)
    app = App(f"sqlite:///{path}", shutdown_grace=0.2, lease=10, watch=0.05)

    @app.task
    async def report(day: str = "") -> None: ...

    with server_in_thread(app) as client:
        yield client
