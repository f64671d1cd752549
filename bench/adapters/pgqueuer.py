"""PgQueuer over asyncpg, run on uvloop in batches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark


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


async def bulk(queries: Any, xs: Sequence[int]) -> None:
    await queries.enqueue(["noop"] * len(xs), [str(x).encode() for x in xs], [0] * len(xs))


def worker(batch: int) -> None:
    async def work() -> None:
        queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(url())))

        @queue.entrypoint("noop")
        async def noop(job: Any) -> None:
            mark(int(job.payload))

        await queue.run(batch_size=batch, dequeue_timeout=timedelta(seconds=30))

    uvloop.run(work())


ADAPTER = Adapter(one, bulk, session, setup, worker)
