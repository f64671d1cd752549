"""The program that enqueues: `python -m bench.adapters.client ADAPTER COMMAND [NUMBER …]`.

The commands are setup, worker N, enqueue JOBS, bulk JOBS, latency JOBS SECONDS, steady CALLS JOBS SECONDS, and the name
of a graph with its number of jobs. `ADAPTER:KIND` is one of several adapters of a module.

It prints one line of JSON. Only the loop of enqueues is timed, not the start of Python or the opening of the client.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.adapters.adapter import Adapter

PER_CALL = 1000


def main() -> None:
    # Imported by its full name, never as __main__: several queues find a job's function by its module name.
    name, command, *numbers = sys.argv[1:]
    adapter = _adapter(name)
    if command == "setup":
        _finish(adapter.setup() if adapter.setup is not None else None)
    elif command == "worker":
        assert adapter.worker is not None, f"{name} has a worker command of its own"
        _finish(adapter.worker(int(numbers[0])))
    else:
        calls, pause = _plan(adapter, command, [float(number) for number in numbers])
        asynchronous = inspect.iscoroutinefunction(adapter.one)
        seconds = asyncio.run(_later(adapter, calls, pause)) if asynchronous else _now(adapter, calls, pause)
        print(json.dumps({"seconds": seconds, "peak": _peak()}), flush=True)


def _adapter(name: str) -> Adapter:
    module, _, kind = name.partition(":")
    found = importlib.import_module(f"bench.adapters.{module}")
    adapter: Adapter = found.ADAPTERS[kind] if kind else found.ADAPTER
    return adapter


Calls = Iterator[Callable[[Any], Any]]


def _plan(adapter: Adapter, command: str, numbers: list[float]) -> tuple[Calls, float]:
    """Return the calls to make and the seconds between them."""
    count, one, bulk = int(numbers[0]), adapter.one, adapter.bulk
    if command == "enqueue":
        return (lambda client, x=x: one(client, x) for x in range(count)), 0.0
    if command == "latency":
        return (lambda client: one(client, time.time_ns()) for _ in range(count)), numbers[1]
    if command in adapter.graphs:
        return iter([adapter.graphs[command](count)]), 0.0
    assert bulk is not None
    if command == "steady":
        return (lambda client: bulk(client, [time.time_ns()] * int(numbers[1])) for _ in range(count)), numbers[2]
    assert command == "bulk"
    batches = (range(start, min(count, start + PER_CALL)) for start in range(0, count, PER_CALL))
    return (lambda client, batch=batch: bulk(client, batch) for batch in batches), 0.0


def _now(adapter: Adapter, calls: Calls, pause: float) -> float:
    with adapter.session() as client:  # type: ignore[union-attr]
        began = due = time.perf_counter()
        for call in calls:
            call(client)
            if pause:
                due += pause
                time.sleep(max(0.0, due - time.perf_counter()))
        return time.perf_counter() - began


async def _later(adapter: Adapter, calls: Calls, pause: float) -> float:
    async with adapter.session() as client:  # type: ignore[union-attr]
        began = due = time.perf_counter()
        for call in calls:
            await call(client)
            if pause:
                due += pause
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
        return time.perf_counter() - began


def _peak() -> int:
    """Return the peak memory of this process in bytes. Only macOS reports bytes; others report kibibytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _finish(result: Any) -> None:
    if inspect.iscoroutine(result):
        asyncio.run(result)


if __name__ == "__main__":
    main()
