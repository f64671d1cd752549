"""What every race has in common: the jobs that take part, the end they are waited for, and what must be true then."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from hanbeon import App, JobRequest, State
from hanbeon.service.verify import render, verify
from tests.processes.journal import Journal
from tests.processes.observer import query
from tests.processes.sizes import TIMEOUT
from tests.processes.tasks import make_app

ROLES = ("FE", "BE", "QA", "")
KEYS = ("", "a", "b")
_POLL = 0.05
_BATCH = 500


@asynccontextmanager
async def race_app(url: str) -> AsyncIterator[App]:
    """The App of the test itself: it makes jobs and looks at them, and never works."""
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
    """Jobs alike that only note that they ran."""
    tiny = app.tasks.get("tiny")
    return [tiny.call(journal=str(journal)).set(**options) for _ in range(count)]


async def enqueue(app: App, requests: Sequence[JobRequest[Any]]) -> list[str]:
    """All of them, a few hundred at a time; their ids."""
    starts = range(0, len(requests), _BATCH)
    return [job.id for start in starts for job in await app.enqueue_many(requests[start : start + _BATCH])]


async def until(holds: Callable[[], Awaitable[bool]], what: str, timeout: float = TIMEOUT * 0.8) -> None:
    """Until it holds; an error that says what was waited for if that takes too long."""
    end = time.monotonic() + timeout
    while not await holds():
        assert time.monotonic() < end, f"waited {timeout} s for {what}"
        await asyncio.sleep(_POLL)


async def until_succeeded(app: App, count: int, queue: str | None = None) -> None:
    """Until so many jobs have succeeded."""

    async def succeeded() -> bool:
        return (await app.counts(queue)).get(State.SUCCEEDED, 0) >= count

    await until(succeeded, f"{count} succeeded jobs")


async def check_ran_once(url: str, journal: Journal, ids: Sequence[str]) -> None:
    """Each job succeeded once, by an attempt whose body ran once, and no body ran that is not accounted for."""
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
    """The race was one: several processes took part."""
    ran = "SELECT DISTINCT i.pid FROM hanbeon.attempt AS a JOIN hanbeon.instance AS i ON i.id = a.instance"
    assert len(await query(url, ran)) >= 2


async def check_sound(app: App) -> None:
    report = await verify(app.store)
    assert report.sound, render(report)
