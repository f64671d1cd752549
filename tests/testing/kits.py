"""Fixtures that hand a test an App on each store: by hand on a virtual clock (`kit`), or as in life (`app`)."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack

import asyncpg
import pytest

from hanbeon import App
from hanbeon.store.backends import migrate
from hanbeon.testing import TestKit
from tests.databases.fixtures import find_installation
from tests.databases.run import SERVERS
from tests.store.world import EMPTY

CleanUrl = Callable[[str, str], str]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = metafunc.config.stash[SERVERS].chosen
    names = [each.name for each in chosen] if len(chosen) > 1 else ["postgres"]
    stores = ["sqlite", *(pytest.param(name, marks=pytest.mark.postgres) for name in names)]
    for fixture in ("kit_url", "app_url"):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, stores, indirect=True)


@pytest.fixture(scope="session")
def lasting_databases(request: pytest.FixtureRequest) -> Iterator[CleanUrl]:
    """One database of each server and use for this process: emptying it is quicker than making another."""
    urls: dict[tuple[str, str], str] = {}
    servers = request.config.stash[SERVERS]
    with ExitStack() as databases:

        def url_of(name: str, use: str) -> str:
            if (name, use) not in urls:
                server = servers.shared(find_installation(servers, name))
                urls[name, use] = databases.enter_context(server.database())
            return urls[name, use]

        yield url_of


@pytest.fixture
async def kit_url(request: pytest.FixtureRequest, sqlite_url: str, lasting_databases: CleanUrl) -> str:
    """An empty database whose clock a kit may replace."""
    return sqlite_url if request.param == "sqlite" else await _emptied(lasting_databases(request.param, "kit"))


@pytest.fixture
async def app_url(request: pytest.FixtureRequest, sqlite_url: str, lasting_databases: CleanUrl) -> str:
    """An empty database with a clock of its own."""
    return sqlite_url if request.param == "sqlite" else await _emptied(lasting_databases(request.param, "app"))


@pytest.fixture
async def kit(kit_url: str) -> AsyncIterator[TestKit]:
    """An open App without tasks, on a clock that stands still. One after the other on both stores."""
    async with TestKit(App(), kit_url, limit=20) as kit:
        yield kit


@pytest.fixture
async def app(app_url: str) -> AsyncIterator[App]:
    """An open App without tasks, on the real clock, that does not wait long for anything."""
    async with App(app_url, shutdown_grace=0.2, lease=10, watch=0.05) as app:
        yield app


async def _emptied(url: str) -> str:
    await migrate(url)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(EMPTY)
    finally:
        await connection.close()
    return url
