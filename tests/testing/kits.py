"""Fixtures that hand a test an App on each store: by hand on a virtual clock (`kit`), or as in life (`app`)."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack

import psycopg
import pytest

from hanbeon import App
from hanbeon.store.dialect import Postgres
from hanbeon.testing import TestKit
from tests.databases.fixtures import find_installation, migrated_database
from tests.databases.run import SERVERS
from tests.further_stores import is_for_one_store
from tests.store.world import empty_script

CleanUrl = Callable[[str, str], str]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = metafunc.config.stash[SERVERS].chosen
    names = [each.name for each in chosen] if len(chosen) > 1 else ["postgres"]
    if is_for_one_store(metafunc):
        names = []
    stores = ["sqlite", *(pytest.param(name, marks=pytest.mark.postgres) for name in names)]
    for fixture in ("kit_url", "app_url"):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, stores, indirect=True)


@pytest.fixture(scope="session")
def lasting_databases(request: pytest.FixtureRequest) -> Iterator[CleanUrl]:
    """One database of each server and use for this process: emptying it is quicker than making another."""
    kept: dict[tuple[str, str], tuple[str, psycopg.Connection]] = {}
    servers = request.config.stash[SERVERS]
    with ExitStack() as databases:

        def url_of(name: str, use: str) -> str:
            if (name, use) not in kept:
                url = databases.enter_context(migrated_database(servers, find_installation(servers, name)))
                kept[name, use] = url, databases.enter_context(psycopg.connect(url, autocommit=True))
            url, connection = kept[name, use]
            connection.execute(empty_script(Postgres).encode())
            return url

        yield url_of


@pytest.fixture
def kit_url(request: pytest.FixtureRequest, sqlite_url: str, lasting_databases: CleanUrl) -> str:
    """A database without jobs whose clock a kit may replace."""
    return sqlite_url if request.param == "sqlite" else lasting_databases(request.param, "kit")


@pytest.fixture
def app_url(request: pytest.FixtureRequest, sqlite_url: str, lasting_databases: CleanUrl) -> str:
    """A database without jobs with a clock of its own."""
    return sqlite_url if request.param == "sqlite" else lasting_databases(request.param, "app")


@pytest.fixture
async def kit(kit_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TestKit]:
    """An open App without tasks, on a clock that stands still. One after the other on both stores."""
    # The kit lets work that should stop keep its slot after a moment that a busy machine exceeds.
    monkeypatch.setattr("hanbeon.testing.kit._STOP_SECONDS", 5.0)
    async with TestKit(App(), kit_url, limit=20) as kit:
        yield kit


@pytest.fixture
async def app(app_url: str) -> AsyncIterator[App]:
    """An open App without tasks, on the real clock, that does not wait long for anything."""
    async with App(app_url, shutdown_grace=0.2, lease=10, watch=0.05) as app:
        yield app
