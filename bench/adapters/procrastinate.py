"""Procrastinate over psycopg."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import procrastinate

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark

logging.basicConfig(level=logging.WARNING)
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url()))


@app.task(name="noop")
async def noop(x: int) -> None:
    mark(x)


@asynccontextmanager
async def session() -> AsyncIterator[Any]:
    async with app.open_async():
        yield noop


async def setup() -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


async def one(task: Any, x: int) -> None:
    await task.defer_async(x=x)


async def bulk(task: Any, xs: Sequence[int]) -> None:
    await task.batch_defer_async(*[{"x": x} for x in xs])


async def worker(concurrency: int) -> None:
    async with app.open_async():
        await app.run_worker_async(concurrency=concurrency)


ADAPTER = Adapter(one, bulk, session, setup, worker)
