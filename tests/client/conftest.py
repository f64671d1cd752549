"""Each client in turn, of a server on each store in turn."""

from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from tests.client.both_clients import AnyClient, any_client
from tests.server.client import serving


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def call(app: App, kind: str) -> AsyncIterator[AnyClient]:
    """A client of a server with a worker, whose tasks the test may add before it makes jobs."""
    async with serving(app, work=True) as server, any_client(kind, server.url) as call:
        yield call
