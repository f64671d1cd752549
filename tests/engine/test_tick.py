"""One pass of a worker is not idle while something that is due is on its way to be ready."""

from __future__ import annotations

import asyncio

import asyncpg

from hanbeon import App, State
from hanbeon.engine.tick import tick

_QUIET_SECONDS = 0.5


async def test_pass_waits_for_what_another_promotes(postgres_url: str) -> None:
    other = await asyncpg.connect(postgres_url)
    try:
        async with App(postgres_url) as app:

            @app.task
            async def work() -> None: ...

            job = await app.enqueue(work, delay=0.001)
            # Whoever promotes it has its row locked until the commit.
            holding = other.transaction()
            await holding.start()
            await other.execute("SELECT 1 FROM hanbeon.job WHERE id = $1 FOR UPDATE", job.id)
            passing = asyncio.create_task(tick(app.worker(), app.store, app.settings, 60, asyncio.Event()))
            done, _ = await asyncio.wait([passing], timeout=_QUIET_SECONDS)
            assert not done, "it is due, so there is work"
            await holding.rollback()
            assert (await passing).idle
            assert await job.state() is State.SUCCEEDED
    finally:
        await other.close()
