"""Limits hold at every moment, over many processes and many connections, also while they change."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from hanbeon import App
from tests.storm.fleet import opened, worker_processes
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, until_succeeded
from tests.storm.race import ROLES, assert_ran_once, assert_shared, enqueue_all, limited_jobs
from tests.storm.sampler import Sampler
from tests.storm.sizes import TIMEOUT, both_sizes, part, sized

pytestmark = pytest.mark.timeout(TIMEOUT)

QUEUE = "narrow"
ROLE_LIMITS = {role: 1 for role in ROLES if role}
ENOUGH_SAMPLES = 200


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
            await _race(app, sampler, database_url, journal, share, jobs, processes, workers)
        assert not sampler.exceeded, sampler
        if share == 1:
            assert sampler.most_in(QUEUE) == 3, "the queue's limit was never reached: this race shows nothing"
            assert {sampler.most[QUEUE, "role", role] for role in ROLE_LIMITS} == {1}


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
            changing = asyncio.create_task(_change_limits(app, sampler))
            await _race(app, sampler, database_url, journal, share, jobs, processes, workers)
            changing.cancel()
        assert not sampler.exceeded, sampler
        if share == 1:
            assert sampler.most_in(QUEUE) == 5, "the highest limit was never reached: this race shows nothing"


async def _race(
    app: App, sampler: Sampler, url: str, journal: Journal, share: float, jobs: int, processes: int, workers: int
) -> None:
    """Run far more workers than the limits allow on one queue; everything succeeds, each body once.

    There are more jobs until the sampler has seen enough: on a busy machine it sees less of each.
    """
    ids: list[str] = []
    options = {"settings": {"pool_size": 10}, "concurrency": 20, "workers": workers}
    with worker_processes(processes, url, **options) as started:
        while sampler.busy_samples < part(ENOUGH_SAMPLES, share):
            ids += await enqueue_all(app, limited_jobs(app, journal, part(sized(jobs), share), QUEUE))
            await until_succeeded(app, len(ids))
        for process in started:
            process.stop()
    await assert_shared(url)
    await assert_ran_once(url, journal, ids)
    await assert_sound(app)


async def _change_limits(app: App, sampler: Sampler) -> None:
    """Cycle the limit 3 → 1 → 5 → 2 → … and a role's limit, until cancelled; stay at 5 until that is sampled."""
    for limit in itertools.cycle((1, 5, 2, 3)):
        await app.configure_queue(QUEUE, max_concurrent=limit, roles={"FE": 1} if limit > 2 else {})
        await asyncio.sleep(0.2)
        while limit == 5 and sampler.most_in(QUEUE) < 5:  # noqa: ASYNC110 - it samples in a thread
            await asyncio.sleep(0.01)
