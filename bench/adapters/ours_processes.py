"""Hanbeon: a plain function in two warm worker processes that can be killed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark
from hanbeon import App
from hanbeon.cli.running import run

app = App(url(), processes=2)


@app.task(executor="process")
def noop(x: int) -> None:
    mark(x)


async def setup() -> None:
    await app.migrate()


@asynccontextmanager
async def session() -> AsyncIterator[App]:
    async with app:
        yield app


async def one(app: App, x: int) -> None:
    await app.enqueue(noop.call(x))


async def bulk(app: App, xs: Sequence[int]) -> None:
    await app.enqueue_many([noop.call(x) for x in xs])


def worker(concurrency: int) -> None:
    async def work() -> None:
        async with app:
            await app.worker(concurrency=concurrency).run()

    run(work())


ADAPTER = Adapter(one, bulk, session, setup, worker)
