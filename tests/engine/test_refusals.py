"""A database that refuses for a moment is unavailable: what has been done counts, and no work fails for it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from hanbeon import App, Context, State
from hanbeon.domain.lifecycle import AttemptStatus
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.operations.queries import attempts_of
from tests.databases.refusals import POSTGRES, as_user, full_file, no_descriptors, read_only
from tests.server.client import Client, serving
from tests.storm.moments import assert_sound, ledger_of, make_ledger, until

LARGE = "x" * 200_000
"""Needs pages of its own: a file that may not grow refuses it."""
COMPLETED = AttemptStatus.COMPLETED


class Body:
    """Tasks whose bodies wait, and how often each ran."""

    def __init__(self, app: App) -> None:
        self.began, self.go, self.ran = asyncio.Event(), asyncio.Event(), 0

        @app.task(retries=0)
        async def plain() -> str:
            await self.run()
            return LARGE

        @app.task(retries=0)
        async def parent(ctx: Context) -> str:
            await ctx.enqueue(child.call())
            await self.run()
            return LARGE

        @app.task(retries=0)
        async def progress(ctx: Context) -> str:
            await self.run()
            await ctx.progress(LARGE)
            return "done"

        @app.task(retries=0)
        async def ledger(ctx: Context) -> None:
            transaction = await ctx.transaction()
            await transaction.execute("INSERT INTO ledger (job, fence) VALUES ($1, $2)", ctx.job_id, ctx.fence)
            await self.run()

        @app.task(retries=0)
        async def late_ledger(ctx: Context) -> None:
            transaction = await ctx.transaction()
            await self.run()
            await transaction.execute("INSERT INTO ledger (job, fence) VALUES ($1, $2)", ctx.job_id, ctx.fence)

        @app.task
        async def child() -> None: ...

    async def run(self) -> None:
        self.ran += 1
        self.began.set()
        await self.go.wait()


async def _end_while_refused(
    app: App, task: str, refusing: Callable[[], AbstractAsyncContextManager[None]], heard: Callable[[], Awaitable[None]]
) -> Body:
    """Let a job end while the database refuses, and relent when it is known to have been refused."""
    body = Body(app)
    async with app.worker():
        job = await app.enqueue(task)
        await asyncio.wait_for(body.began.wait(), 60)
        async with refusing():
            body.go.set()
            await heard()
        record = await job.wait(60)
    assert (record.state, record.error_message, record.retry_count) == (State.SUCCEEDED, None, 0)
    statuses = [attempt.status for attempt in await app.store.read(lambda tx: attempts_of(tx, job.id))]
    assert (statuses, body.ran) in (([COMPLETED], 1), ([AttemptStatus.FAILED, COMPLETED], 2))
    if task in ("plain", "parent", "progress"):
        assert body.ran == 1, "what it did counts"
    assert len(await app.jobs(task="child")) == (task == "parent"), "with the success, once"
    await assert_sound(app)
    return body


def _hearing(caplog: pytest.LogCaptureFixture, *words: str) -> Callable[[], Awaitable[None]]:
    async def ask() -> bool | None:
        return any(word in record.getMessage() for word in words for record in caplog.records) or None

    async def heard() -> None:
        await until(f"a line of the log with {words}", ask)

    return heard


@pytest.mark.parametrize("task", ["plain", "parent"])
@pytest.mark.parametrize("name", POSTGRES)
async def test_end_is_written_when_postgres_relents(
    postgres_url: str, caplog: pytest.LogCaptureFixture, name: str, task: str
) -> None:
    heard = _hearing(caplog, "end_not_written")
    async with as_user(postgres_url) as url, App(url) as app:
        await _end_while_refused(app, task, lambda: POSTGRES[name](postgres_url), heard)


@pytest.mark.parametrize("task", ["ledger", "late_ledger"])
async def test_transaction_of_a_refused_task_is_done_again(
    postgres_url: str, caplog: pytest.LogCaptureFixture, task: str
) -> None:
    heard = _hearing(caplog, "end_not_written", "task_raised")
    async with App(postgres_url) as app:
        await make_ledger(app)
        await _end_while_refused(app, task, lambda: read_only(postgres_url), heard)
        assert [fence for _, fence in await ledger_of(app)] == [2]


async def test_progress_waits_for_a_database_that_refuses(postgres_url: str, caplog: pytest.LogCaptureFixture) -> None:
    heard = _hearing(caplog, "database_unavailable")
    async with App(postgres_url, lease=6) as app:
        await _end_while_refused(app, "progress", lambda: read_only(postgres_url), heard)


@pytest.mark.parametrize("task", ["plain", "parent"])
async def test_end_is_written_when_a_full_file_may_grow(
    sqlite_url: str, caplog: pytest.LogCaptureFixture, task: str
) -> None:
    async with App(sqlite_url) as app:
        await _end_while_refused(app, task, lambda: full_file(app), _hearing(caplog, "end_not_written"))


async def test_too_many_open_files_are_no_failure(database_url: str) -> None:
    """Neither opening a connection, nor telling others of a commit."""
    app = App(database_url)
    tried: list[Exception] = []

    @app.task(retries=0)
    async def pay(ctx: Context) -> str:
        if ctx.attempt > 1:
            return "paid"
        with no_descriptors():
            try:
                await ctx.transaction()
            except Exception as error:
                tried.append(error)
                raise
        return "paid without"

    async with app, app.worker():
        await app.store.fold()
        with no_descriptors():
            await app.store.fold()
            app.store.notifier.send({"work"})
        record = await (await app.enqueue(pay)).wait(60)
    assert (record.state, record.result, record.retry_count) == (State.SUCCEEDED, '"paid"', 0)
    assert [type(error) for error in tried] == [DatabaseUnavailable]


async def test_constraint_of_the_work_itself_fails_it(postgres_url: str) -> None:
    """Checked at the commit, long after the body has returned."""
    async with App(postgres_url) as app, app.transaction() as tx:
        await tx.execute("CREATE TABLE parts (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        await tx.execute("INSERT INTO parts VALUES (1)")
    app = App(postgres_url)

    @app.task(retries=0)
    async def double(ctx: Context) -> None:
        await (await ctx.transaction()).execute("INSERT INTO parts VALUES (1)")

    async with app, app.worker():
        record = await (await app.enqueue(double)).wait(60)
    assert (record.state, record.fence) == (State.FAILED, 1)
    assert "UniqueViolation" in str(record.error_message)


async def _check_refused(client: Client, refusing: AbstractAsyncContextManager[None]) -> None:
    office = f"/api/offices/{(await client.post('/api/offices', {'name': 'one'})).json['id']}/jobs"
    batch = {"jobs": [{"key": f"k{n}", "title": "long enough that a batch needs new pages"} for n in range(500)]}
    async with refusing:
        answer = await client.post(office, batch)
        assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "database_unavailable", "1")
    assert (await client.get(office)).json["items"] == []
    assert (await client.post(office, batch)).status == 201


@pytest.mark.parametrize("name", ["read_only", "no_connections"])
async def test_api_answers_503_while_postgres_refuses(postgres_url: str, name: str) -> None:
    async with as_user(postgres_url) as url, App(url) as app, serving(app) as client:
        await _check_refused(client, POSTGRES[name](postgres_url))


async def test_api_answers_503_while_a_file_is_full(sqlite_url: str) -> None:
    async with App(sqlite_url) as app, serving(app) as client:
        await _check_refused(client, full_file(app))
