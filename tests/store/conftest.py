"""An open store of each database, migrated and empty; and a world, which is a store whose time the test moves."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from hanbeon.clock import SystemClock
from hanbeon.store.backends import open_store
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import add_surfaces
from tests.databases.fixtures import find_installation, migrated_database
from tests.databases.installations import Installation
from tests.databases.run import SERVERS
from tests.store.world import World


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = add_surfaces(open_store(database_url, SystemClock()))
    await opened.open()
    try:
        yield opened
    finally:
        await opened.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "world" in metafunc.fixturenames:
        chosen = metafunc.config.stash[SERVERS].chosen
        names = [each.name for each in chosen] if len(chosen) > 1 else ["postgres"]
        postgres = [pytest.param(name, marks=pytest.mark.postgres) for name in names]
        metafunc.parametrize("world", ["sqlite", *postgres], indirect=True)


@pytest.fixture(scope="session")
def shared_database(request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """One database of each server for all worlds of this process: emptying it is quicker than making another."""
    urls: dict[str, str] = {}
    servers = request.config.stash[SERVERS]
    with contextlib.ExitStack() as databases:

        def url_of(name: str) -> str:
            if name not in urls:
                urls[name] = databases.enter_context(migrated_database(servers, find_installation(servers, name)))
            return urls[name]

        yield url_of


@pytest.fixture
async def world(
    request: pytest.FixtureRequest, sqlite_url: str, shared_database: Callable[[str], str]
) -> AsyncIterator[World]:
    """An empty store on each database, with its clock in the test's hands."""
    async with opened_world(sqlite_url if request.param == "sqlite" else shared_database(request.param)) as opened:
        yield opened


@pytest.fixture
async def sqlite_world(sqlite_url: str) -> AsyncIterator[World]:
    """A world on SQLite only, for tests of what a single writer need not leave to the general path."""
    async with opened_world(sqlite_url) as opened:
        yield opened


@pytest.fixture
async def postgres_world(
    postgres_installation: Installation, shared_database: Callable[[str], str]
) -> AsyncIterator[World]:
    """A world on PostgreSQL only, for tests of row locks and slow transactions."""
    async with opened_world(shared_database(postgres_installation.name)) as opened:
        yield opened


@contextlib.asynccontextmanager
async def opened_world(url: str, *, fast: bool = True) -> AsyncIterator[World]:
    world = await World.open(url, fast=fast)
    try:
        await world.empty()
        yield world
    finally:
        await world.store.close()
