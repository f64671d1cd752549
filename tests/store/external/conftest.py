"""An App on PostgreSQL with a table of the caller's own, and every kind of caller in turn."""

from collections.abc import AsyncIterator, Callable

import pytest

from hanbeon import App, Task
from tests.databases.installations import Installation
from tests.store.external.callers import KINDS, Caller, of_asyncpg
from tests.testing.kits import CleanUrl


@pytest.fixture
def url(postgres_installation: Installation, lasting_databases: CleanUrl) -> str:
    return lasting_databases(postgres_installation.name, "borrow")


@pytest.fixture
async def app(url: str) -> AsyncIterator[App]:
    async with App(url, shutdown_grace=0.2, lease=10, watch=0.05, poll=60) as app:
        async with app.transaction() as tx:
            await tx.execute("DROP TABLE IF EXISTS orders; CREATE TABLE orders (number integer PRIMARY KEY)")
        yield app


@pytest.fixture
def send(app: App) -> Task[[str], str]:
    @app.task(retries=0)
    async def send(to: str) -> str:
        if to == "nobody":
            raise ValueError(to)
        return f"sent to {to}"

    return send


@pytest.fixture(params=KINDS)
async def caller(request: pytest.FixtureRequest, url: str, app: App) -> AsyncIterator[Caller]:
    """A transaction of the caller's own through each driver and wrapper."""
    async with KINDS[request.param](url) as caller:
        yield caller


@pytest.fixture
async def begin(url: str, app: App) -> Callable[[], object]:
    """A further transaction of somebody, over asyncpg."""
    return lambda: of_asyncpg(url)
