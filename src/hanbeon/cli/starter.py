"""The tasks of this project. `hanbeon init` wrote this file; it is yours to change."""

import asyncio

from hanbeon import App, Context

# Uses the database in HANBEON_DATABASE_URL, or the file hanbeon.db. Times without an offset are in this zone.
app = App(timezone="{timezone}")


@app.task(retries=2, retry_delay=5)
async def greet(ctx: Context, name: str) -> str:
    for percent in range(0, 101, 20):
        await ctx.progress(percent)
        await asyncio.sleep(0.2)
    return f"Hello, {name}!"
