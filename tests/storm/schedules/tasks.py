"""Tasks for schedules to run in worker processes: bodies that record the definition they were made from."""

from __future__ import annotations

import asyncio
from typing import Any

from hanbeon import App, Context
from tests.storm.journal import write_line

ALONE = "alone"
"""Tasks whose executions never overlap; all other tasks' may."""
CROWD = "crowd"


async def body(ctx: Context, label: str, journal: str, pause: float = 0.0) -> None:
    """Record that it began, and that it ran."""
    write_line(journal, f"began {ctx.job_id} {ctx.fence}")
    await asyncio.sleep(pause)
    write_line(journal, f"ran {ctx.job_id} {ctx.fence}")


def make_app(url: str, *, alone: int = 1, crowds: int = 0, **settings: Any) -> App:
    """An App with this many tasks of each kind. Retries are many: being killed is no failure of the task."""
    app = App(url, **settings)
    for name in (*(f"{ALONE}{n}" for n in range(alone)), *(f"{CROWD}{n}" for n in range(crowds))):
        app.task(name=name, retries=1000, retry_delay=0.02, backoff="linear")(body)
    return app
