"""Each client in turn, of a server on each store in turn."""

from collections.abc import AsyncIterator

import pytest

from hanbeon import App
from tests.client.both_clients import Asking, asking
from tests.server.client import serving


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def ask(app: App, kind: str) -> AsyncIterator[Asking]:
    """A client of a server with a worker, whose tasks the test may add before it makes jobs."""
    async with serving(app, work=True) as server, asking(kind, server.url) as ask:
        yield ask
