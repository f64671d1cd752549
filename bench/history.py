"""A database with a long, consistent history: `python -m bench.history URL EVENTS`, for audits of many rows.

The engine's own operations write it, in large transactions and without a worker: bulk enqueues, claims, ends, retries,
dependencies, and a limited queue. Its size is known, its ids and instants are not.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence

from uuid_utils import uuid7

from hanbeon.domain.job import Claimed, NewJob
from hanbeon.domain.outcome import Outcome, Raised, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.store.operations import audit
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import migrate, whole_store

_AT_ONCE = 5_000
_LEASE_US = 600_000_000
_POLICY = RetryPolicy(max_retries=5, base_us=0)
_RETRIED, _DEPENDENT, _LIMITED, _LEFT = 10, 20, 8, 50
"""Of so many batches of jobs, one is retried, a graph, in a limited queue, or left to wait."""


async def write_history(store: Store, events: int) -> int:
    """Write at least so many events to an open store; return how many."""
    await store.change_queue("limited", {"max_concurrent": 2 * _AT_ONCE})
    began_at, batch = await _number(store), 0
    while (left := began_at + events - await _number(store)) > 0:
        await _batch(store, batch, min(_AT_ONCE, max(1, left // 3)))
        batch += 1
    while await store.fold():
        pass
    return await _number(store) - began_at


async def _number(store: Store) -> int:
    """Give every event its number; return the last."""
    while await store.number_events():
        pass
    return (await store.read(audit.extent)).bounds.last_id


async def _batch(store: Store, batch: int, size: int) -> None:
    queue = "limited" if batch % _LIMITED == 1 else "default"
    jobs = [NewJob(id=str(uuid7()), task="work", queue=queue, policy=_POLICY) for _ in range(size)]
    if batch % _DEPENDENT == 2:
        jobs = [
            NewJob(id=job.id, task="work", queue=queue, policy=_POLICY, depends_on=(jobs[n - 1].id,) if n % 10 else ())
            for n, job in enumerate(jobs)
        ]
    await store.enqueue(jobs)
    if batch % _LEFT == _LEFT - 1:
        return
    retries = batch % _RETRIED == 3
    while held := await _claim(store, size):
        await _end(store, held, Raised("again") if retries else Returned())
        retries = False


async def _claim(store: Store, want: int) -> Sequence[Claimed]:
    request = ClaimRequest(instance=1, tasks=("work",), want=min(want, _AT_ONCE), lease_us=_LEASE_US)
    return (await store.claim(request)).jobs


async def _end(store: Store, held: Sequence[Claimed], outcome: Outcome) -> None:
    alike = len({(job.fence, job.instance) for job in held}) == 1
    if isinstance(outcome, Returned) and alike and await store.succeed(held, [None] * len(held)) is not None:
        return
    for start in range(0, len(held), 1_000):
        reports = [CompletionReport(job.seq, job.fence, outcome) for job in held[start : start + 1_000]]
        await store.complete(reports)


async def _main(url: str, events: int) -> None:
    await migrate(url)
    store, began_at = whole_store(url), time.perf_counter()
    await store.open()
    try:
        written = await write_history(store, events)
    finally:
        await store.close()
    print(json.dumps({"events": written, "seconds": time.perf_counter() - began_at}))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
