"""The program that runs chains: `python -m bench.chain_load CHAINS`, on the database in BENCH_URL.

Chains of ten jobs, one in ten of which fails at its end and is undone; then as many jobs in processes as those were
operations, by the same worker. It prints one line of JSON with both rates. The start of Python, of the App and of the
processes is not timed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.adapters.adapter import url
from bench.chain_operations import __name__ as LIBRARY
from hanbeon import App
from hanbeon.cli.event_loop import run
from hanbeon.domain.lifecycle import UNFINISHED

_JOBS, _FAILING = 10, 10
_HELD = 100
_CREATED_AT_ONCE = 50
_POLL_SECONDS = 0.05

app = App(url(), processes=2, concurrency=_HELD, chain_concurrency=_HELD, chain_libraries=LIBRARY)


@app.task(executor="process")
def noop(x: int) -> None:
    pass


def _jobs(number: int) -> list[dict[str, Any]]:
    jobs: list[dict[str, Any]] = [
        {"forward_operation": "book", "backward_operation": "cancel", "arguments": {"n": n}} for n in range(_JOBS)
    ]
    if number % _FAILING == 0:
        jobs[-1] |= {"forward_operation": "refuse", "backward_operation": "NO_OPERATION"}
    return jobs


async def _chains(count: int) -> float:
    """Return the operations per second, both ways."""
    made: list[Any] = []
    for start in range(0, count, _CREATED_AT_ONCE):
        numbers = range(start, min(count, start + _CREATED_AT_ONCE))
        made += await asyncio.gather(*(app.chains.create(queue_library=LIBRARY, jobs=_jobs(n)) for n in numbers))
    began = time.perf_counter()
    for start in range(0, count, _CREATED_AT_ONCE):
        await asyncio.gather(*(app.chains.run(chain) for chain in made[start : start + _CREATED_AT_ONCE]))
    await _until(_no_chain_runs)
    seconds = time.perf_counter() - began
    ended = [await app.chains.get(chain) for chain in made]
    # The last operation of those that fail needs no undoing: it is passed over, and not counted.
    operations = sum(len(chain.queue_return) - (chain.operation_direction == "BACKWARD") for chain in ended)
    return operations / seconds


async def _no_chain_runs() -> bool:
    return not (await app.chains.list(state="RUNNING", limit=1)).items


async def _no_job_is_left() -> bool:
    counts = await app.counts("default")
    return not any(counts[state] for state in UNFINISHED)


async def _until(ended: Callable[[], Awaitable[bool]]) -> None:
    while not await ended():  # noqa: ASYNC110 - the worker, which ends it, has no event for that
        await asyncio.sleep(_POLL_SECONDS)


async def _processes(count: int) -> float:
    began = time.perf_counter()
    await app.enqueue_many([noop.call(number) for number in range(count)])
    await _until(_no_job_is_left)
    return count / (time.perf_counter() - began)


async def main() -> None:
    count = int(sys.argv[1])
    async with app, app.worker():
        await _processes(_HELD)
        report = {"chains": await _chains(count), "processes": await _processes(count * _JOBS)}
    print(json.dumps(report), flush=True)


if __name__ == "__main__":
    run(main())
