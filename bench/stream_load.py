"""The program that runs stream tasks: `python -m bench.stream_load JOBS`, on BENCH_URL and the Redis in BENCH_REDIS.

Two workers of the kit in processes of their own do nothing, for one job at a time and then for all at once. It prints
one line of JSON: the median wait from before the enqueue to the worker's function, that of a plain async task in the
same process, in ms, and the jobs per second from the first enqueue to the last end.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.adapters.adapter import url
from hanbeon import App
from hanbeon.cli.event_loop import run
from hanbeon.domain.lifecycle import UNFINISHED
from hanbeon.job import Job
from hanbeon.stream_worker import Reporter, Request, Result, StreamWorker

_WORKERS, _CONCURRENCY = 2, 100
_SINGLE, _EVERY, _WARM_UP = 100, 0.05, 5
_AT_ONCE = 500
_TIMEOUT = 120.0
_POLL_SECONDS = 0.02

app = App(url(), redis_url=os.environ["BENCH_REDIS"], concurrency=_CONCURRENCY)
stream = app.stream("noop", "bench", timeout="10m", window=10_000)


@app.task
async def plain() -> int:
    return time.time_ns()


async def work(request: Request, report: Reporter) -> Result:
    return {"result": time.time_ns()}


async def _waits(enqueue: Callable[[], Awaitable[Job[Any]]]) -> float:
    """Return the median wait of jobs that come one by one, in ms."""
    waits: list[float] = []
    for n in range(_WARM_UP + _SINGLE):
        sent_at = time.time_ns()
        began_at: int = await (await enqueue()).result(_TIMEOUT)
        if n >= _WARM_UP:
            waits.append((began_at - sent_at) / 1e6)
        await asyncio.sleep(_EVERY)
    return statistics.median(waits)


async def _rate(count: int) -> float:
    began = time.perf_counter()
    for _ in range(0, count, _AT_ONCE):
        await app.enqueue_many([stream.call() for _ in range(min(_AT_ONCE, count))])
    async with asyncio.timeout(_TIMEOUT):
        while True:
            counts = await app.counts("default")
            if not any(counts[state] for state in UNFINISHED):
                return count / (time.perf_counter() - began)
            await asyncio.sleep(_POLL_SECONDS)


async def _measure(count: int) -> dict[str, float]:
    async with app:
        await app.migrate()
        async with app.worker():
            engine = await _waits(lambda: app.enqueue(plain.call()))
            wire = await _waits(lambda: app.enqueue(stream.call()))
            return {"engine_p50": engine, "stream_p50": wire, "rate": await _rate(count)}


def main(count: int) -> None:
    command = [sys.executable, "-m", "bench.stream_load", "worker"]
    workers = [subprocess.Popen(command) for _ in range(_WORKERS)]
    try:
        print(json.dumps(run(_measure(count))))
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        run(StreamWorker(os.environ["BENCH_REDIS"], "bench", {"noop": work}, concurrency=_CONCURRENCY).run())
    else:
        main(int(sys.argv[1]))
