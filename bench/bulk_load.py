"""The program that moves jobs in bulk: `python -m bench.bulk_load JOBS`, on the database in BENCH_URL.

A job is enqueued every 20 ms and run by a worker of this process, first with nothing else to do, then while another
process cancels and retries JOBS others over and over. It prints one line of JSON: percentiles of the times from enqueue
to start in milliseconds, and how many jobs a second were moved.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from bench import numbers
from bench.adapters.adapter import url
from hanbeon import App
from hanbeon.cli.event_loop import run
from hanbeon.surfaces.engine.schemas import BulkAction

_SAMPLES, _EVERY = 300, 0.02
_PER_CALL = 5_000

app = App(url())
_began: dict[int, float] = {}


@app.task
async def noop(number: int) -> None:
    _began[number] = time.perf_counter()


async def _waits(first: int, count: int) -> list[float]:
    """Return how long each of some jobs waited, in milliseconds."""
    enqueued = {}
    for number in range(first, first + count):
        enqueued[number] = time.perf_counter()
        await app.enqueue("noop", {"number": number})
        await asyncio.sleep(_EVERY)
    while len(_began) < first + count:  # noqa: ASYNC110 - the worker has no event for that
        await asyncio.sleep(_EVERY)
    return [(_began[number] - at) * 1_000 for number, at in enqueued.items()]


async def _park(count: int) -> None:
    """Enqueue jobs that no worker claims."""
    parked = App(url())

    @parked.task(queue="parked")
    async def park() -> None:
        pass

    async with parked:
        for start in range(0, count, _PER_CALL):
            await parked.enqueue_many([park.call() for _ in range(min(_PER_CALL, count - start))])


async def _move() -> None:
    """Cancel and retry all parked jobs, and print how many were moved, until this process is ended."""
    async with app:
        while True:
            for action in BulkAction:
                cursor: str | None = None
                while True:
                    answer = await app.engine.bulk(action=action, filter={"queue": "parked"}, cursor=cursor)
                    print(answer.done, flush=True)
                    cursor = answer.next_cursor
                    if cursor is None:
                        break


async def main() -> None:
    await _park(int(sys.argv[1]))
    async with app, app.worker():
        await _waits(0, 10)
        idle = await _waits(10, _SAMPLES)
        mover = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.bulk_load", "move"), stdout=asyncio.subprocess.PIPE
        )
        assert mover.stdout is not None
        await mover.stdout.readline()
        began = time.perf_counter()
        busy = await _waits(10 + _SAMPLES, _SAMPLES)
        seconds = time.perf_counter() - began
        mover.kill()
        moved = sum(int(line) for line in (await mover.stdout.read()).split())
    report = {f"idle_p{share}": numbers.percentile(idle, share / 100) for share in (50, 99)}
    report |= {f"busy_p{share}": numbers.percentile(busy, share / 100) for share in (50, 99)}
    print(json.dumps(report | {"rate": moved / seconds}), flush=True)


if __name__ == "__main__":
    run(_move() if sys.argv[1] == "move" else main())
