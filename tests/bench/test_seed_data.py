"""Seeded tables are as the engine would have left them."""

import asyncio

from bench.seed_data import SeedJobs, hold_one, seed, settle_down
from bench.servers import connected
from hanbeon import App
from hanbeon.domain.lifecycle import State
from hanbeon.domain.limits import QueueLimits

_ONE = QueueLimits(max_concurrent=1)
_OFFICE = QueueLimits(max_concurrent=3, roles={"a": 2, "b": 1})


def test_only_runnable_jobs_are_drained(postgres_url: str) -> None:
    app = App(postgres_url)
    ran: list[int] = []

    @app.task
    async def noop(x: int) -> None:
        ran.append(x)

    asyncio.run(app.migrate())
    with connected(postgres_url) as query:
        seed(query, SeedJobs(count=1200, finished=True))
        seed(query, SeedJobs(count=30))
        seed(query, SeedJobs(count=10, name="saturated", limits=_ONE))
        hold_one(query, "saturated")
        seed(query, SeedJobs(count=10, name="paused", paused=True))
        seed(query, SeedJobs(count=10, name="unknown", task="nobody_has_it"))
        seed(query, SeedJobs(count=40, name="office", queues=10, roles=("a", "b"), limits=_OFFICE))
        settle_down(query)

    async def work() -> dict[str, dict[State, int]]:
        async with app:
            worker = app.worker(concurrency=100)
            while await worker.tick():
                pass
            assert len({record.queue for record in await app.jobs(limit=2000)}) == 14
            assert (await app.events_after(0))[0].type == "succeeded"
            return {queue: await app.counts(queue) for queue in ("default", "saturated", "paused", "unknown")}

    counts = asyncio.run(work())
    assert len(ran) == 30 + 40
    assert counts["default"][State.SUCCEEDED] == 1230
    assert (counts["saturated"][State.RUNNING], counts["saturated"][State.READY]) == (1, 9)
    assert counts["paused"][State.READY] == counts["unknown"][State.READY] == 10
