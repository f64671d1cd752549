"""Chancy with its asyncio executor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from chancy import Chancy, Queue, Worker, job

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark

_CONCURRENCY = 100


@job(queue="default")
async def noop(x: int) -> None:
    mark(x)


@asynccontextmanager
async def session() -> AsyncIterator[Any]:
    async with Chancy(url()) as chancy:
        yield chancy


async def setup() -> None:
    async with Chancy(url()) as chancy:
        await chancy.migrate()
        # The queue's own settings live in the database, so the worker's concurrency is set here.
        await chancy.declare(
            Queue(
                "default",
                concurrency=_CONCURRENCY,
                executor=Chancy.Executor.Async,
                polling_interval=1,
                eager_polling=True,
            )
        )


async def one(chancy: Any, x: int) -> None:
    await chancy.push(noop.job.with_kwargs(x=x))


async def bulk(chancy: Any, xs: Sequence[int]) -> None:
    async for _ in chancy.push_many([noop.job.with_kwargs(x=x) for x in xs]):
        pass


async def worker(concurrency: int) -> None:
    assert concurrency == _CONCURRENCY
    async with Chancy(url()) as chancy, Worker(chancy) as working:
        await working.wait_for_shutdown()


ADAPTER = Adapter(one, bulk, session, setup, worker)
