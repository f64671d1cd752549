"""The races catch the classic mistakes, and accept the engine under the same load.

A given run shows a mistake only by chance, so those runs belong to the long tests; that each mistake
gives a slot away is shown for certain, by two connections, in `tests/store/test_claim_waits.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hanbeon import App
from hanbeon.domain.audit.findings import Code
from hanbeon.surfaces.verify import verify
from tests.storm import wrong
from tests.storm.fleet import opened, worker_processes
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, until_succeeded
from tests.storm.race import enqueue_all, tiny_jobs
from tests.storm.sampler import Sampler
from tests.storm.sizes import LONG, TIMEOUT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(TIMEOUT)]

QUEUE = "narrow"
ROUNDS = 20
JOBS_A_ROUND = 30
ROUNDS_WITHSTOOD = 3


@pytest.mark.chaos
@pytest.mark.skipif(not LONG, reason="found by chance: HANBEON_CHAOS=long")
@pytest.mark.parametrize("way", [wrong.count_without_lock, wrong.lock_and_count_at_once])
async def test_a_wrong_way_is_caught(way: Callable[[], None], postgres_url: str, tmp_path: Path) -> None:
    """Both detectors must see it, each in its own round if need be.

    The sampler counts rows that run, the sweep compares the times of attempts: work that had ended but was not yet
    committed still holds its slot, so one round can exceed the limit for the first of them only.
    """
    seen = swept = False
    async with _strained(postgres_url, way) as (app, sampler):
        for number in range(1, ROUNDS + 1):
            await _run_round(app, number, tmp_path)
            seen = bool(sampler.exceeded)
            swept = Code.LIMIT_EXCEEDED in {finding.code for finding in (await verify(app.store)).errors}
            if seen and swept:
                break
        assert seen, f"never seen in {ROUNDS} rounds: {sampler}"
        assert swept, f"never found by the sweep over the attempts in {ROUNDS} rounds"


async def test_the_right_way_withstands_the_same_strain(postgres_url: str, tmp_path: Path) -> None:
    async with _strained(postgres_url, wrong.right) as (app, sampler):
        for number in range(1, ROUNDS_WITHSTOOD + 1):
            await _run_round(app, number, tmp_path)
        assert not sampler.exceeded, sampler
        assert sampler.most_in(QUEUE) == 1
        await assert_sound(app)


@asynccontextmanager
async def _strained(url: str, way: Callable[[], None]) -> AsyncIterator[tuple[App, Sampler]]:
    """Eight workers in four processes that claim in this way, on a queue that lets one job run."""
    before = f"{way.__module__}:{way.__name__}"
    async with opened(url) as app:
        await app.configure_queue(QUEUE, max_concurrent=1)
        with worker_processes(4, url, before=before, workers=2, concurrency=2), Sampler(url) as sampler:
            yield app, sampler


async def _run_round(app: App, number: int, folder: Path) -> None:
    await enqueue_all(app, tiny_jobs(app, Journal(folder / "journal"), JOBS_A_ROUND, pause=0.005, queue=QUEUE))
    await until_succeeded(app, number * JOBS_A_ROUND)
