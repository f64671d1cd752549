"""The tasks that worker processes run, and what their bodies leave behind: lines in a file nobody rewrites."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from hanbeon import App, Context
from tests.storm.journal import write_line

FOREVER = 3600.0


def make_app(url: str, **settings: Any) -> App:
    """An App with every task below."""
    app = App(url, **settings)

    @app.task(retries=3, retry_delay=0)
    async def tiny(ctx: Context, journal: str, pause: float = 0.0, failures: int = 0) -> None:
        """Record that it ran, after failing `failures` times; each failure is recorded too."""
        await asyncio.sleep(pause)
        if ctx.attempt <= failures:
            write_line(journal, f"failed {ctx.job_id} {ctx.fence}")
            raise RuntimeError("as asked")
        write_line(journal, f"ran {ctx.job_id} {ctx.fence}")

    @app.task(retries=3, retry_delay=0)
    async def gated(ctx: Context, journal: str, gate: str) -> None:
        """Record that it began, wait until the file `gate` exists, record that it ran."""
        write_line(journal, f"began {ctx.job_id} {ctx.fence} {os.getpid()}")
        while not os.access(gate, os.F_OK):  # noqa: ASYNC110 - whoever opens it is another process
            await asyncio.sleep(0.01)
        write_line(journal, f"ran {ctx.job_id} {ctx.fence}")

    @app.task(retries=3, retry_delay=0)
    async def endless(ctx: Context, journal: str) -> None:
        """Record that it began and how it was stopped; never return by itself."""
        write_line(journal, f"began {ctx.job_id} {ctx.fence} {os.getpid()}")
        try:
            await asyncio.sleep(FOREVER)
        except asyncio.CancelledError:
            write_line(journal, f"stopped {ctx.job_id} {ctx.fence}")
            raise

    return app
