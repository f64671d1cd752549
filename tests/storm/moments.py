"""Wait for something that another process does, by polling until it is so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg

from hanbeon import App, Job
from hanbeon.domain.job import JobRecord
from hanbeon.domain.lifecycle import State
from hanbeon.errors import DatabaseUnavailable
from hanbeon.service.verify import render
from hanbeon.store.dialect import translate
from hanbeon.store.operations.queries import attempts_of
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.verify import verify
from tests.guarantees import guarantee
from tests.storm.journal import Journal
from tests.storm.sizes import TIMEOUT

T = TypeVar("T")
PATIENCE = 60.0
_BETWEEN, _LONGEST_BETWEEN, _GROWTH = 0.02, 0.2, 1.1
"""Seconds between two looks, at first and at last: what is awaited for long costs a core less."""


async def until(what: str, ask: Callable[[], Awaitable[T | None]], timeout: float = PATIENCE) -> T:
    """Return the first answer that is not None. An unreachable database is asked again."""
    end, between = time.monotonic() + timeout, _BETWEEN
    while True:
        try:
            answer = await ask()
        except DatabaseUnavailable:
            answer = None
        if answer is not None:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"within {timeout:g} s it never came to this: {what}")
        await asyncio.sleep(between)
        between = min(_LONGEST_BETWEEN, between * _GROWTH)


async def enqueue(app: App, task: str, /, *, options: Mapping[str, Any] | None = None, **args: Any) -> str:
    """The id of a new job."""
    job: Job[Any] = await app.enqueue(task, args, **options or {})
    return job.id


async def until_line(journal: Journal, word: str, *names: object, timeout: float = PATIENCE) -> list[str]:
    """The first line that begins with these words."""
    wanted = [word, *map(str, names)]

    async def ask() -> list[str] | None:
        return next((line for line in journal.lines(word) if line[: len(wanted)] == wanted), None)

    return await until(f"a line {' '.join(wanted)!r} in the journal", ask, timeout)


async def until_state(app: App, job_id: str, *states: State, timeout: float = PATIENCE) -> JobRecord:
    async def ask() -> JobRecord | None:
        record = await app.store.job(job_id)
        return record if record.state in states else None

    return await until(f"job {job_id} {' or '.join(states)}", ask, timeout)


async def until_succeeded(app: App, count: int, queue: str | None = None) -> None:
    """Wait until this many jobs have succeeded."""

    async def ask() -> bool | None:
        return True if (await app.counts(queue)).get(State.SUCCEEDED, 0) >= count else None

    await until(f"{count} succeeded jobs", ask, TIMEOUT * 0.8)


async def statuses(app: App, job_id: str) -> list[str]:
    """How each attempt ended, in order."""
    return [attempt.status.value for attempt in await app.store.read(lambda tx: attempts_of(tx, job_id))]


@asynccontextmanager
async def direct(url: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """A connection of the test's own, past any proxy."""
    connection = await asyncpg.connect(url, timeout=PATIENCE)
    try:
        yield connection
    finally:
        await connection.close()


async def rows_of(store: Store, sql: str, *args: Any) -> Sequence[Any]:
    """Run and commit a statement in the portable SQL of `dialect.py`."""
    transaction = await store.begin()
    try:
        rows = await transaction.fetch(translate(sql, store.database.dialect), *args)
        await transaction.finish(_nothing)
    finally:
        await transaction.abandon()
    return rows


async def _nothing(tx: Tx) -> None:
    return None


async def make_ledger(app: App) -> None:
    """Create a user's own table, without a constraint that would prevent duplicate rows."""
    await rows_of(app.store, "CREATE TABLE ledger (job text NOT NULL, fence bigint NOT NULL)")


async def ledger_of(app: App) -> list[tuple[str, int]]:
    """Return the attempts, by job, that have written a row."""
    return sorted((row["job"], row["fence"]) for row in await rows_of(app.store, "SELECT job, fence FROM ledger"))


async def assert_sound(app: App) -> None:
    report = await until("an audit", lambda: verify(app.store))
    with guarantee():
        assert report.sound, render(report)
