"""Limits hold at every moment, over many processes and many connections, also while they change."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from hanbeon import App
from tests.storm.fleet import opened, worker_processes
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, until_succeeded
from tests.storm.race import ROLES, assert_ran_once, enqueue_all, limited_jobs, was_shared
from tests.storm.sampler import Sampler
from tests.storm.sizes import TIMEOUT, both_sizes, part, sized

pytestmark = pytest.mark.timeout(TIMEOUT)

QUEUE = "narrow"
ROLE_LIMITS = {role: 1 for role in ROLES if role}
ENOUGH_SAMPLES = 200
MOST_BATCHES = 30


@both_sizes
@pytest.mark.parametrize(
    ("database_url", "jobs", "processes", "workers"),
    [("postgres", 1000, 4, 1), ("sqlite", 1000, 3, 1)],
    indirect=["database_url"],
)
async def test_limits_hold_at_every_moment(
    database_url: str, jobs: int, processes: int, workers: int, share: float, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "journal")
    async with opened(database_url) as app:
        await app.configure_queue(QUEUE, max_concurrent=3, roles=ROLE_LIMITS, max_per_key=1)
        with Sampler(database_url) as sampler:

            def reached() -> bool:
                roles = {sampler.most[QUEUE, "role", role] for role in ROLE_LIMITS}
                enough = sampler.busy_samples >= part(ENOUGH_SAMPLES, share)
                return enough and (share < 1 or (sampler.most_in(QUEUE) == 3 and roles == {1}))

            await _race(app, reached, database_url, journal, part(sized(jobs), share), processes, workers)
        assert not sampler.exceeded, sampler
        assert reached(), f"the limits were never reached: this race shows nothing: {sampler}"


@both_sizes
@pytest.mark.parametrize(
    ("database_url", "jobs", "processes", "workers"),
    [("postgres", 1000, 4, 2), ("sqlite", 500, 3, 2)],
    indirect=["database_url"],
)
async def test_limits_hold_while_they_change(
    database_url: str, jobs: int, processes: int, workers: int, share: float, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "journal")
    async with opened(database_url) as app:
        await app.configure_queue(QUEUE, max_concurrent=3, max_per_key=4)
        with Sampler(database_url) as sampler:

            def reached() -> bool:
                enough = sampler.busy_samples >= part(ENOUGH_SAMPLES, share)
                return enough and (share < 1 or sampler.most_in(QUEUE) == 5)

            changing = asyncio.create_task(_change_limits(app, sampler))
            await _race(app, reached, database_url, journal, part(sized(jobs), share), processes, workers)
            changing.cancel()
        assert not sampler.exceeded, sampler
        assert reached(), f"the highest limit was never reached: this race shows nothing: {sampler}"


async def _race(
    app: App, reached: Callable[[], bool], url: str, journal: Journal, jobs: int, processes: int, workers: int
) -> None:
    """Run far more workers than the limits allow on one queue; everything succeeds, each body once.

    There are more jobs until the limits are reached: on a busy machine less of each of them is sampled.
    """
    ids: list[str] = []
    options = {"settings": {"pool_size": 10}, "concurrency": 20, "workers": workers}
    with worker_processes(processes, url, **options) as started:
        for _ in range(MOST_BATCHES):
            ids += await enqueue_all(app, limited_jobs(app, journal, jobs, QUEUE))
            await until_succeeded(app, len(ids))
            if reached() and await was_shared(url):
                break
        for process in started:
            process.stop()
    assert await was_shared(url)
    await assert_ran_once(url, journal, ids)
    await assert_sound(app)


async def _change_limits(app: App, sampler: Sampler) -> None:
    """Cycle the limit 3 → 1 → 5 → 2 → … and a role's limit, until cancelled; stay at 5 until that is sampled."""
    for limit in itertools.cycle((1, 5, 2, 3)):
        await app.configure_queue(QUEUE, max_concurrent=limit, roles={"FE": 1} if limit > 2 else {})
        await asyncio.sleep(0.2)
        while limit == 5 and sampler.most_in(QUEUE) < 5:  # noqa: ASYNC110 - it samples in a thread
            await asyncio.sleep(0.01)
