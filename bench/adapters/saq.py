"""SAQ on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from saq import Queue

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark

queue = Queue.from_url(url())


async def noop(_: Any, *, x: int) -> None:
    mark(x)


settings = {"queue": queue, "functions": [noop], "concurrency": 10}


@asynccontextmanager
async def session() -> AsyncIterator[Any]:
    await queue.connect()
    yield queue
    await queue.disconnect()


async def one(queue: Any, x: int) -> None:
    await queue.enqueue("noop", x=x)


ADAPTER = Adapter(one, session=session)
