"""What jobs do. `hanbeon init` wrote this file; it is yours now."""

import asyncio

from hanbeon import App, Context

app = App()  # On the database that HANBEON_DATABASE_URL names, or on the file hanbeon.db.


@app.task(retries=2, retry_delay=5)
async def greet(ctx: Context, name: str) -> str:
    for percent in range(0, 101, 20):
        await ctx.progress(percent)
        await asyncio.sleep(0.2)
    return f"Hello, {name}!"
