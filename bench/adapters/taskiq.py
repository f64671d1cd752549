"""Taskiq on Redis streams."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from taskiq_redis import RedisStreamBroker

from bench.adapters.adapter import Adapter, url
from bench.adapters.marks import mark

broker = RedisStreamBroker(url=url())


@broker.task(task_name="noop")
async def noop(x: int) -> None:
    mark(x)


@asynccontextmanager
async def session() -> AsyncIterator[Any]:
    await broker.startup()
    yield noop
    await broker.shutdown()


async def one(task: Any, x: int) -> None:
    await task.kiq(x)


ADAPTER = Adapter(one, session=session)
