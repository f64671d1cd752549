"""Queues take turns: none starves while a big one is worked off."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.processes.journal import Journal
from tests.processes.observer import query
from tests.processes.sizes import TIMEOUT, both_sizes, part, sized
from tests.processes.workers import worker_processes
from tests.races.race import check_ran_once, check_shared, check_sound, enqueue, race_app, tiny_jobs, until_succeeded

pytestmark = pytest.mark.timeout(TIMEOUT)

EARLY = [f"early{n}" for n in range(10)]
LATE = [f"late{n}" for n in range(10)]
SMALL = 5
UNDER_WAY = 200
STARTS = "SELECT queue, created_at, started_at FROM hanbeon.jobs ORDER BY started_at, seq"


@both_sizes
@pytest.mark.parametrize(
    ("database_url", "size", "processes"), [("postgres", 5000, 3), ("sqlite", 2500, 2)], indirect=["database_url"]
)
async def test_small_queues_do_not_wait_for_a_big_one(
    database_url: str, size: int, processes: int, share: float, tmp_path: Path
) -> None:
    """Half of the small queues exist from the start, the others arrive while the big one is worked off."""
    journal, big = Journal(tmp_path / "journal"), part(sized(size), share, least=2_000)
    async with race_app(database_url) as app:
        ids = await enqueue(app, tiny_jobs(app, journal, big, queue="big"))
        ids += await enqueue(app, [*chain(*(tiny_jobs(app, journal, SMALL, queue=queue) for queue in EARLY))])
        with worker_processes(processes, database_url, concurrency=20) as started:
            await until_succeeded(app, UNDER_WAY, "big")
            ids += await enqueue(app, [*chain(*(tiny_jobs(app, journal, SMALL, queue=queue) for queue in LATE))])
            await until_succeeded(app, len(ids))
            for process in started:
                process.stop()
        starts = await query(database_url, STARTS)
        assert _waited(starts, EARLY) < big / 5
        assert _waited(starts, LATE) < big / 5
        await check_shared(database_url)
        await check_ran_once(database_url, journal, ids)
        await check_sound(app)


def _waited(starts: Sequence[Sequence[Any]], queues: Sequence[str]) -> int:
    """Count the jobs of the big queue that started while jobs of these queues were waiting."""
    created = max(created for queue, created, _ in starts if queue in queues)
    last = max(started for queue, _, started in starts if queue in queues)
    return sum(queue == "big" and created <= started <= last for queue, _, started in starts)
