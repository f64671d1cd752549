"""PgQueuer over asyncpg, run on uvloop in batches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark
from bench.bodies import PLAIN, WAITS


@asynccontextmanager
async def session() -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url())
    yield Queries(AsyncpgDriver(connection))
    await connection.close()


async def setup() -> None:
    async with session() as queries:
        await queries.install()


async def one(queries: Any, x: int) -> None:
    await queries.enqueue("noop", str(x).encode(), 0)


async def bulk(queries: Any, xs: Sequence[int], entrypoint: str = "noop") -> None:
    await queries.enqueue([entrypoint] * len(xs), [str(x).encode() for x in xs], [0] * len(xs))


def worker(batch: int, entrypoint: str = "noop", seconds: float = 0.0) -> None:
    """Run a worker for one kind of body: with others registered, its claims would cost more."""

    async def work() -> None:
        queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(url())))

        async def noop(job: Any) -> None:
            mark(int(job.payload))

        async def wait(job: Any) -> None:
            mark(int(job.payload))
            await asyncio.sleep(seconds)

        queue.entrypoint(entrypoint)(wait if seconds else noop)
        await queue.run(batch_size=batch, dequeue_timeout=timedelta(seconds=30))

    uvloop.run(work())


ADAPTER = Adapter(one, bulk, session, setup, worker)
ADAPTERS = {PLAIN: ADAPTER} | {
    name: replace(
        ADAPTER,
        bulk=partial(bulk, entrypoint=name),
        worker=partial(worker, entrypoint=name, seconds=seconds),
    )
    for name, seconds in WAITS.items()
}
