"""Shared parts of the races: the jobs, waiting for their end, and what must hold then."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from hanbeon import App, JobRequest, State
from hanbeon.service.verify import render
from hanbeon.surfaces.verify import verify
from tests.storm.journal import Journal
from tests.storm.observer import query
from tests.storm.race_tasks import make_app
from tests.storm.sizes import TIMEOUT

ROLES = ("FE", "BE", "QA", "")
KEYS = ("", "a", "b")
_POLL = 0.05
_BATCH = 500


@asynccontextmanager
async def race_app(url: str) -> AsyncIterator[App]:
    """The App of the test itself: it creates and reads jobs, and runs none."""
    app = make_app(url)
    await app.migrate()
    async with app:
        yield app


def limited_jobs(app: App, journal: Journal, count: int, queue: str) -> list[JobRequest[Any]]:
    """Tiny jobs over every combination of role and key; a third of them pauses, every tenth fails once."""
    tiny = app.tasks.get("tiny")
    return [
        tiny.call(journal=str(journal), pause=0.001 if n % 3 == 0 else 0.0, failures=int(n % 10 == 0)).set(
            queue=queue, role=ROLES[n % len(ROLES)], concurrency_key=KEYS[n // len(ROLES) % len(KEYS)]
        )
        for n in range(count)
    ]


def tiny_jobs(app: App, journal: Journal, count: int, **options: Any) -> list[JobRequest[Any]]:
    """Identical jobs that only record that they ran."""
    tiny = app.tasks.get("tiny")
    return [tiny.call(journal=str(journal)).set(**options) for _ in range(count)]


async def enqueue(app: App, requests: Sequence[JobRequest[Any]]) -> list[str]:
    """Enqueue all of them, a few hundred at a time, and return their ids."""
    starts = range(0, len(requests), _BATCH)
    return [job.id for start in starts for job in await app.enqueue_many(requests[start : start + _BATCH])]


async def until(holds: Callable[[], Awaitable[bool]], what: str, timeout: float = TIMEOUT * 0.8) -> None:
    """Wait until it holds, or fail with what was waited for."""
    end = time.monotonic() + timeout
    while not await holds():
        assert time.monotonic() < end, f"waited {timeout} s for {what}"
        await asyncio.sleep(_POLL)


async def until_succeeded(app: App, count: int, queue: str | None = None) -> None:
    """Wait until this many jobs have succeeded."""

    async def succeeded() -> bool:
        return (await app.counts(queue)).get(State.SUCCEEDED, 0) >= count

    await until(succeeded, f"{count} succeeded jobs")


async def check_ran_once(url: str, journal: Journal, ids: Sequence[str]) -> None:
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


async def check_shared(url: str) -> None:
    """Check that it was a race: several processes took part."""
    ran = "SELECT DISTINCT i.pid FROM hanbeon.attempt AS a JOIN hanbeon.instance AS i ON i.id = a.instance"
    assert len(await query(url, ran)) >= 2


async def check_sound(app: App) -> None:
    report = await verify(app.store)
    assert report.sound, render(report)
