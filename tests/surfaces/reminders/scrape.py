"""Print the metrics of a server with reminders among its surfaces."""

from __future__ import annotations

import asyncio
import sys

from hanbeon import App
from tests.server.client import serving
from tests.surfaces.reminders.surface import SURFACE


async def scrape(url: str) -> str:
    app = App(url)
    app.surfaces = (*App.surfaces, SURFACE)
    async with app, serving(app) as client:
        return (await client.get("/metrics")).body.decode()


sys.stdout.write(asyncio.run(scrape(sys.argv[1])))
