"""The App of a run: the tasks of the storms, and those of kinds that only a run of faults has."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon import App, Context, SyncContext
from tests.storm import tasks
from tests.storm.chain_operations import __name__ as CHAIN_LIBRARY
from tests.storm.clocks import CLOCKS
from tests.storm.journal import write_line
from tests.storm.schedules.tasks import ALONE, CROWD, body

STREAM = "chaos"
SCHEDULED = [*(f"{ALONE}{n}" for n in range(3)), f"{CROWD}0"]
OVERDUE_SECONDS = 0.5
_LEASE_OF_STREAM = 10.0


def make_app(url: str, *, clock: str = "system", **settings: Any) -> App:
    """An App with every task of the load. Retries are many, because a fault is no failure of the task."""
    settings = {"chain_libraries": CHAIN_LIBRARY, "outbound_allow_private": True} | settings
    app = tasks.make_app(url, clock=CLOCKS[clock](), **settings)
    many: dict[str, Any] = {"retries": 1000, "retry_delay": 0.02, "backoff": "linear"}
    app.task(name="noted", **many)(tasks.tiny)
    app.task(on_lost="fail", retries=0)(once)
    app.task(timeout=OVERDUE_SECONDS, **many)(overdue)
    app.task(executor="process", **many)(processed)
    app.task(**many)(step)
    for name in SCHEDULED:
        app.task(name=name, **many)(body)
    app.stream("streamed", STREAM, timeout="10m", lease=_LEASE_OF_STREAM, **many)
    return app


async def once(ctx: Context, journal: str, pause: float) -> None:
    """Write down that it runs, and stay for a moment in which it may be killed."""
    write_line(journal, f"ran {ctx.job_id} {ctx.fence}")
    await asyncio.sleep(pause)


async def overdue(ctx: Context) -> None:
    """Fail the first attempt by its timeout."""
    if ctx.attempt == 1:
        await asyncio.Event().wait()


def processed(ctx: SyncContext, journal: str) -> None:
    write_line(journal, f"ran {ctx.job_id} {ctx.fence}")


async def step() -> None:
    """A step of a workflow."""
