"""An App with a stream task, its workers, and a look into Redis."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from redis.asyncio import Redis

from hanbeon.stream_worker import Reporter, Request, Result, StreamWorker, Work, WorkFailed

REQUESTS, PROGRESS, RESULTS = "thumbs.requests", "thumbs.progress", "thumbs.results"


async def work(request: Request, report: Reporter) -> Result:
    await report.progress(50, "drawing")
    if request.args.get("fail"):
        raise WorkFailed("NO_SPACE", "the disk is full")
    return {"resultUri": f"out/{request.job_id}/{request.fence}", "checksum": "00", "result": request.args}


@contextlib.asynccontextmanager
async def working(url: str, works: dict[str, Work] | None = None, **options: Any) -> AsyncIterator[StreamWorker]:
    """Run a worker for the block; it ends what it has begun."""
    worker = StreamWorker(url, "thumbs", works or {"thumb": work}, **options)
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await running


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    redis: Any = Redis.from_url(url, decode_responses=True)
    try:
        yield redis
    finally:
        await redis.aclose()
