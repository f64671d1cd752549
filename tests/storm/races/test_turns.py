"""Queues take turns: none starves while a big one is worked off."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, JobRequest
from tests.storm.fleet import opened, worker_processes
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, until_succeeded
from tests.storm.observer import query
from tests.storm.race import assert_ran_once, tiny_jobs, was_shared
from tests.storm.sizes import TIMEOUT, both_sizes, part, sized

pytestmark = pytest.mark.timeout(TIMEOUT)

EARLY = [f"early{n}" for n in range(10)]
LATE = [f"late{n}" for n in range(10)]
SMALL = 5
CONCURRENCY = 20
UNDER_WAY = 200
STARTS = "SELECT queue, id, started_at FROM hanbeon.jobs"


@both_sizes
@pytest.mark.parametrize(
    ("database_url", "size", "processes"), [("postgres", 2500, 3), ("sqlite", 1250, 2)], indirect=["database_url"]
)
async def test_small_queues_do_not_wait_for_a_big_one(
    database_url: str, size: int, processes: int, share: float, tmp_path: Path
) -> None:
    """Half of the small queues exist from the start, the others arrive while the big one is worked off.

    Small queues are committed together with big ones before them, so it does not matter how much ran in between.
    Whenever an instance has gone through all queues, each small one has one job less; the big one then had at most all
    slots of the instance. The first time, it may have looked before the jobs were there.
    """
    journal, big = Journal(tmp_path / "journal"), part(sized(size), share, least=1_000)
    most = processes * (SMALL + 1) * CONCURRENCY
    assert most < big / 2
    async with opened(database_url) as app:
        early = [job.id for job in await app.enqueue_many(_jobs(app, journal, big, EARLY, "ab"))]
        with worker_processes(processes, database_url, concurrency=CONCURRENCY) as started:
            await until_succeeded(app, UNDER_WAY, "big")
            late = [job.id for job in await app.enqueue_many(_jobs(app, journal, big, LATE, "cd"))]
            await until_succeeded(app, len(early + late))
            for process in started:
                process.stop()
        starts = await query(database_url, STARTS)
        assert _started_before(starts, set(early), EARLY) <= most
        assert _started_before(starts, set(late), LATE) <= most
        assert await was_shared(database_url)
        await assert_ran_once(database_url, journal, early + late)
        await assert_sound(app)


def _jobs(app: App, journal: Journal, big: int, small: Sequence[str], keys: str) -> list[JobRequest[Any]]:
    """Jobs of the big queue, then those of small ones.

    In two lanes: where an instance knows of one lane alone, it does not look at others until a hint or a second later.
    """
    lanes = [tiny_jobs(app, journal, big // 2, queue="big", concurrency_key=key) for key in keys]
    return [*chain(*zip(*lanes, strict=True)), *chain(*(tiny_jobs(app, journal, SMALL, queue=name) for name in small))]


def _started_before(starts: Sequence[Sequence[Any]], ids: Collection[str], small: Sequence[str]) -> int:
    """Count the jobs of the big queue, among those with these ids, that started before the last of the small queues."""
    last = max(started for queue, _, started in starts if queue in small)
    return sum(queue == "big" and str(each) in ids and started < last for queue, each, started in starts)
