"""PgBouncer in transaction mode, which gives every transaction another connection to the server."""

import asyncio
import logging
from typing import Any

import asyncpg
import psycopg
import pytest

from hanbeon import App, Job, State, SyncApp
from hanbeon.domain.lifecycle import TERMINAL, UNFINISHED
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.surfaces.store_parts import migrate
from hanbeon.surfaces.verify import verify
from tests.pooler.tasks import make_app
from tests.storm.fleet import worker_processes


async def pooled(url: str) -> bool:
    async with App(url) as app:
        assert isinstance(app.store.database, PostgresDatabase)
        return app.store.database.pooled


async def test_a_pooler_is_noticed_and_the_server_is_not_taken_for_one(
    empty_postgres_url: str, pooled_url: str
) -> None:
    assert await migrate(pooled_url) == [1]
    assert not await pooled(empty_postgres_url)
    assert await pooled(pooled_url)


async def test_pooler_without_listen_url_polls_and_logs_once(pooled_url: str, caplog: pytest.LogCaptureFixture) -> None:
    await migrate(pooled_url)
    caplog.set_level(logging.INFO, "hanbeon")
    app = make_app(pooled_url, poll=30)
    async with app, app.worker():
        for n in range(5):  # Within one process no notification through the database is needed.
            assert await (await app.enqueue("plain", {"n": n})).result(timeout=10) == n
    app = make_app(pooled_url, poll=0.5)
    async with app, app.worker(), make_app(pooled_url) as other:
        job = await other.enqueue("plain", {"n": 7})
        assert await job.result(timeout=10) == 7
    notices = [record.getMessage() for record in caplog.records if "HANBEON_LISTEN_URL" in record.getMessage()]
    assert [record.levelno for record in caplog.records if "HANBEON_LISTEN_URL" in record.getMessage()] == [
        logging.INFO
    ] * len(notices)
    assert len(notices) == 3  # Once for each App that wanted to listen.


async def test_statements_are_prepared_only_inside_transactions(
    pooled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between transactions the session may change: a statement prepared outside one is another session's, or gone."""
    outside: list[str] = []
    prepare_and_run: Any = asyncpg.Connection._execute  # type: ignore[attr-defined]

    async def noted(self: Any, query: str, *args: Any, **more: Any) -> Any:
        if not self.is_in_transaction():
            outside.append(query)
        return await prepare_and_run(self, query, *args, **more)

    monkeypatch.setattr(asyncpg.Connection, "_execute", noted)
    await migrate(pooled_url)
    app = make_app(pooled_url, poll=0.2)
    async with app, app.worker():
        async with app.transaction() as tx:
            await tx.execute("CREATE TABLE effects (n integer PRIMARY KEY)")
            jobs = await app.enqueue_many(
                [app.tasks.get("plain").call(n=1), app.tasks.get("effect").call(n=3)], transaction=tx
            )
        jobs += [await app.enqueue("plain", {"n": n}) for n in (5, 6)]  # The second one takes the fast path.
        many = await app.enqueue_many(app.tasks.get("plain").call(n=n) for n in range(200))  # The path for many.
        jobs += many[::50]
        for job in jobs:
            await job.result(timeout=20)
        await app.counts()
    assert outside == []


async def test_with_an_address_to_listen_on_it_is_woken(empty_postgres_url: str, pooled_url: str) -> None:
    await migrate(pooled_url)
    app = make_app(pooled_url, listen_url=empty_postgres_url, poll=60)
    async with app, app.worker(), make_app(pooled_url) as other:
        await (await app.enqueue("plain", {"n": 1})).result(timeout=10)
        job = await other.enqueue("plain", {"n": 7})
        assert await job.result(timeout=10) == 7
        connection = await asyncpg.connect(pooled_url, statement_cache_size=0)
        async with connection.transaction():
            job = await other.enqueue("plain", {"n": 8}, transaction=connection)
        await connection.close()
        assert await job.result(timeout=10) == 8


async def test_listen_url_that_is_a_pooler_is_reported(pooled_url: str, caplog: pytest.LogCaptureFixture) -> None:
    await migrate(pooled_url)
    app = make_app(pooled_url, listen_url=pooled_url, poll=0.5)
    async with app, app.worker():
        assert await (await app.enqueue("plain", {"n": 1})).result(timeout=10) == 1
    assert "HANBEON_LISTEN_URL points to a pooler" in caplog.text


@pytest.mark.slow
async def test_two_workers_do_everything_once(pooled_url: str) -> None:
    await migrate(pooled_url)
    app = make_app(pooled_url)
    async with app:
        async with app.transaction() as tx:
            await tx.execute("CREATE TABLE effects (n integer PRIMARY KEY)")
        await app.configure_queue("limited", max_concurrent=3, max_per_key=1)
        await app.configure_queue("effects", max_concurrent=2)
        with worker_processes(2, pooled_url, module="tests.pooler.tasks", settings={"poll": 0.3}, concurrency=10):
            flaky, effect, plain = (app.tasks.get(name) for name in ("flaky", "effect", "plain"))
            batch = [flaky.call(n=n) for n in range(250)]
            batch += [flaky.call(n=n).set(queue="limited", concurrency_key=str(n % 5)) for n in range(100)]
            batch += [effect.call(n=n).set(queue="effects") for n in range(30)]
            jobs = await app.enqueue_many(batch)
            endless = await app.enqueue_many([app.tasks.get("endless").call() for _ in range(3)])
            running: set[str | None] = {job.id for job in endless}
            for n in range(20):
                connection = await asyncpg.connect(pooled_url, statement_cache_size=0)
                transaction = connection.transaction()
                await transaction.start()
                behind = plain.call(n=n).set(after=jobs[n : n + 1])
                (job,) = await app.enqueue_many([behind], transaction=connection)
                if n % 2:
                    await transaction.rollback()
                else:
                    await transaction.commit()
                    jobs.append(job)
                await connection.close()
            caller = await psycopg.AsyncConnection.connect(pooled_url, prepare_threshold=None)
            async with caller:
                jobs += await app.enqueue_many([plain.call(n=n) for n in range(50)], transaction=caller)
            jobs += await asyncio.to_thread(_enqueue_without_a_loop, app)
            async with asyncio.timeout(90):
                async for event in app.events():
                    if event.task == "endless" and event.type == "claimed":
                        await app.cancel(event.job_id or "")
                        running.discard(event.job_id)
                    if not running and event.state in TERMINAL:
                        counts = await app.counts()
                        if not any(counts[state] for state in UNFINISHED):
                            break
        counts = await app.counts()
        assert counts == {state: {State.SUCCEEDED: 495, State.CANCELLED: 3}.get(state, 0) for state in State}
        assert {await job.state() for job in jobs} == {State.SUCCEEDED}
        async with app.transaction() as tx:
            assert (await tx.fetch("SELECT count(*) AS n FROM effects"))[0]["n"] == 30
        assert (await verify(app.store)).findings == ()


def _enqueue_without_a_loop(app: App) -> list[Job[Any]]:
    with SyncApp(app) as jobs, psycopg.connect(app.settings.database_url, prepare_threshold=None) as connection:
        made = jobs.enqueue_many([app.tasks.get("plain").call(n=n) for n in range(25)], transaction=connection)
        connection.commit()
        made[0].result(timeout=60)
    return [app.job(job.id) for job in made]
