"""Jobs for races in bulk, and what must hold when all have ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hanbeon import App, JobRequest
from tests.storm.journal import Journal
from tests.storm.observer import query

ROLES = ("FE", "BE", "QA", "")
KEYS = ("", "a", "b")
_BATCH = 500


def limited_jobs(app: App, journal: Journal, count: int, queue: str) -> list[JobRequest[Any]]:
    """Tiny jobs over every combination of role and key; a third of them pauses, every tenth fails once."""
    tiny = app.tasks.get("tiny")
    return [
        tiny.call(journal=str(journal), pause=0.001 if n % 3 == 0 else 0.0, failures=int(n % 10 == 0)).set(
            queue=queue, role=ROLES[n % len(ROLES)], concurrency_key=KEYS[n // len(ROLES) % len(KEYS)]
        )
        for n in range(count)
    ]


def tiny_jobs(app: App, journal: Journal, count: int, pause: float = 0.0, **options: Any) -> list[JobRequest[Any]]:
    """Identical jobs that only record that they ran."""
    tiny = app.tasks.get("tiny")
    return [tiny.call(journal=str(journal), pause=pause).set(**options) for _ in range(count)]


async def enqueue_all(app: App, requests: Sequence[JobRequest[Any]]) -> list[str]:
    """Enqueue all of them, a few hundred at a time, and return their ids."""
    starts = range(0, len(requests), _BATCH)
    return [job.id for start in starts for job in await app.enqueue_many(requests[start : start + _BATCH])]


async def assert_ran_once(url: str, journal: Journal, ids: Sequence[str]) -> None:
    """Check that each job succeeded once, by an attempt whose body ran once, and that every body has an attempt."""
    completed = Counter(
        (str(job_id), attempt, status)
        for job_id, attempt, status in await query(
            url, "SELECT j.id, a.attempt, a.status FROM hanbeon.attempt AS a JOIN hanbeon.job AS j ON j.seq = a.job"
        )
    )
    status_of = {"ran": "completed", "failed": "failed"}
    written = Counter((job_id, int(fence), status_of[word]) for word, job_id, fence in journal.lines())
    assert written == completed
    assert Counter(journal.count("ran")) == Counter(ids)


async def was_shared(url: str) -> bool:
    """Return true if it was a race: several processes took part."""
    ran = "SELECT DISTINCT i.pid FROM hanbeon.attempt AS a JOIN hanbeon.instance AS i ON i.id = a.instance"
    return len(await query(url, ran)) >= 2


async def assert_no_deadlocks(url: str) -> None:
    """Check that PostgreSQL met none: each is rolled back and retried, but costs a second."""
    if url.startswith("postgresql:"):
        rows = await query(url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        assert [row[0] for row in rows] == [0]
