"""Hanbeon: the same job as tasks of each kind; see `bench.bodies`."""

from __future__ import annotations

import asyncio
from typing import Any

from bench import bodies
from bench.adapters.adapter import url
from bench.adapters.marks import mark
from bench.adapters.ours import adapter
from hanbeon import App, Context

_LIMIT = 900
"""Less than the worker's concurrency, so that the limit decides."""

app = App(url())


@app.task
async def plain(x: int) -> None:
    mark(x)


@app.task
async def context(ctx: Context, x: int) -> None:
    mark(x)


@app.task(timeout=60)
async def timeout(x: int) -> None:
    mark(x)


@app.task
def thread(x: int) -> None:
    mark(x)


@app.task(queue="limited")
async def limited(x: int) -> None:
    mark(x)


def _waiting(name: str, seconds: float) -> Any:
    @app.task(name=name)
    async def wait(x: int) -> None:
        mark(x)
        await asyncio.sleep(seconds)

    return wait


async def _limit(app: App) -> None:
    await app.configure_queue("limited", max_concurrent=_LIMIT)


_TASKS: dict[str, Any] = {
    bodies.PLAIN: plain,
    bodies.CONTEXT: context,
    bodies.TIMEOUT: timeout,
    bodies.THREAD: thread,
    bodies.LIMITED: limited,
    **{name: _waiting(name, seconds) for name, seconds in bodies.WAITS.items()},
}
ADAPTERS = {
    kind: adapter(app, task, prepare=_limit if kind == bodies.LIMITED else None) for kind, task in _TASKS.items()
}
