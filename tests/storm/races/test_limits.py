"""Limits hold at every moment, over many processes and many connections, also while they change."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from hanbeon import App
from tests.storm.journal import Journal
from tests.storm.race import (
    ROLES,
    check_ran_once,
    check_shared,
    check_sound,
    enqueue,
    limited_jobs,
    race_app,
    until_succeeded,
)
from tests.storm.sampler import Sampler
from tests.storm.sizes import TIMEOUT, both_sizes, part, sized
from tests.storm.workers import worker_processes

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
    async with race_app(database_url) as app:
        await app.configure_queue(QUEUE, max_concurrent=3, roles=ROLE_LIMITS, max_per_key=1)
        with Sampler(database_url) as sampler:
            await _race(app, database_url, journal, part(sized(jobs), share), processes, workers)
        assert not sampler.exceeded, sampler
        assert sampler.busy_samples >= part(ENOUGH_SAMPLES, share), sampler
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
    async with race_app(database_url) as app:
        await app.configure_queue(QUEUE, max_concurrent=3, max_per_key=4)
        with Sampler(database_url) as sampler:
            changing = asyncio.create_task(_change_limits(app, sampler))
            await _race(app, database_url, journal, part(sized(jobs), share), processes, workers)
            changing.cancel()
        assert not sampler.exceeded, sampler
        assert sampler.busy_samples >= part(ENOUGH_SAMPLES, share), sampler
        if share == 1:
            assert sampler.most_in(QUEUE) == 5, "the highest limit was never reached: this race shows nothing"


async def _race(app: App, url: str, journal: Journal, jobs: int, processes: int, workers: int) -> None:
    """Run far more workers than the limits allow on one queue; everything succeeds, each body once."""
    options = {"settings": {"pool_size": 10}, "concurrency": 20, "workers": workers}
    with worker_processes(processes, url, **options) as started:
        ids = await enqueue(app, limited_jobs(app, journal, jobs, QUEUE))
        await until_succeeded(app, len(ids))
        for process in started:
            process.stop()
    await check_shared(url)
    await check_ran_once(url, journal, ids)
    await check_sound(app)


async def _change_limits(app: App, sampler: Sampler) -> None:
    """Cycle the limit 3 → 1 → 5 → 2 → … and a role's limit, until cancelled; stay at 5 until that is sampled."""
    for limit in itertools.cycle((1, 5, 2, 3)):
        await app.configure_queue(QUEUE, max_concurrent=limit, roles={"FE": 1} if limit > 2 else {})
        await asyncio.sleep(0.2)
        while limit == 5 and sampler.most_in(QUEUE) < 5:  # noqa: ASYNC110 - it samples in a thread
            await asyncio.sleep(0.01)
