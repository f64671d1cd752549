"""The page of the server names every path of offices that there is, and no other."""

import re

from hanbeon import App
from tests.docs.markdown import ROOT
from tests.server.client import serving
from tests.server.websocket_client import refused

_ROUTE = re.compile(r"`(GET|POST|PATCH|DELETE|WS) (/(?:api|ws)/[^`? ]+)")


async def test_the_page_lists_the_routes_that_there_are(sqlite_url: str) -> None:
    told = set(_ROUTE.findall((ROOT / "docs" / "server.md").read_text()))
    async with App(sqlite_url) as app, serving(app) as client:
        described = (await client.get("/openapi.json")).json
        paths, channels = described["paths"], described["x-websockets"]
        for path in channels:
            answer = await refused(client, path.format(id="none"))
            assert answer.code == "office_not_found", "it is described, but not there"
    there = {(method.upper(), path) for path, methods in paths.items() for method in methods if path.startswith("/api")}
    assert told == there | {("WS", path) for path in channels}
