"""Tasks that use everything of the engine that a pooler could spoil."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon import App, Context


def make_app(url: str, **settings: Any) -> App:
    """An App with every task below."""
    app = App(url, **settings)

    @app.task(retries=3, retry_delay=0)
    async def flaky(ctx: Context, n: int) -> int:
        await ctx.progress(n)
        if n % 4 == 0 and ctx.attempt == 1:
            raise RuntimeError("as asked")
        return n

    @app.task(retries=3, retry_delay=0)
    async def effect(ctx: Context, n: int) -> None:
        tx = await ctx.transaction()
        await tx.execute("INSERT INTO effects VALUES ($1)", n)
        await ctx.enqueue(flaky.call(n=1000 + n))
        if n % 3 == 0 and ctx.attempt == 1:
            raise RuntimeError("as asked")

    @app.task
    def plain(n: int) -> int:
        return n

    @app.task
    async def endless() -> None:
        await asyncio.sleep(3600)

    return app
