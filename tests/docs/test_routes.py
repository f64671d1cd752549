"""The pages list exactly the routes of the API."""

import re

from hanbeon import App
from hanbeon.surfaces.registry import SURFACES
from tests.docs.markdown import ROOT
from tests.server.client import serving
from tests.server.websocket_client import refused

_PAGES = {"server.md", *(surface.docs for surface in SURFACES)}
_ROUTE = re.compile(r"`(GET|POST|PATCH|DELETE|WS) (/(?:api|ws)/[^`? ]+)")


async def test_pages_list_every_route(sqlite_url: str) -> None:
    listed = {route for page in _PAGES for route in _ROUTE.findall((ROOT / "docs" / page).read_text())}
    async with App(sqlite_url) as app, serving(app) as client:
        described = (await client.get("/openapi.json")).json
        paths, channels = described["paths"], described["x-websockets"]
        for path in (each for each in channels if "{" in each):
            answer = await refused(client, re.sub(r"\{\w+\}", "none", path))
            assert answer.code in ("office_not_found", "chain_not_found"), (
                "in the OpenAPI document, but without a route"
            )
    routes = {
        (method.upper(), path) for path, methods in paths.items() for method in methods if path.startswith("/api")
    }
    assert listed == routes | {("WS", path) for path in channels}
