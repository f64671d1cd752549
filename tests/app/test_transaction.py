"""The App's own transaction, on both databases: writes and jobs together or not at all."""

import asyncio
from typing import Any

import pytest

from hanbeon import App, Context, State, Task
from hanbeon.errors import (
    DatabaseUnavailable,
    InvalidInput,
    JobNotFound,
    TransactionTooLong,
    UniqueKeyTaken,
)
from hanbeon.surfaces.verify import verify
from hanbeon.testing import TestKit


def on_postgres(app: App) -> bool:
    return app.settings.database_url.startswith("postgresql")


@pytest.fixture
async def note(app: App) -> Task[[int], int]:
    async with app.transaction() as tx:
        await tx.execute("DROP TABLE IF EXISTS orders")
        await tx.execute("CREATE TABLE orders (number integer)")

    @app.task
    async def note(number: int) -> int:
        return number

    return note


async def numbers(app: App) -> list[int]:
    async with app.transaction() as tx:
        return [row["number"] for row in await tx.fetch("SELECT number FROM orders ORDER BY 1")]


def insert(app: App) -> str:
    return f"INSERT INTO orders VALUES ({'$1' if on_postgres(app) else '?'})"


async def test_writes_and_jobs_commit_with_the_block(app: App, note: Task[[int], int]) -> None:
    app.settings = app.settings.model_copy(update={"poll": 60.0})
    async with app.worker():
        async with app.transaction() as tx:
            await tx.execute(insert(app), 7)
            job = await app.enqueue(note.call(7), queue="one never seen", transaction=tx)
            behind = await app.enqueue(note.call(8).set(after=[job]), queue="one never seen", transaction=tx)
            with pytest.raises(JobNotFound):
                await job.state()
            assert (await tx.fetch("SELECT count(*) AS n FROM orders"))[0]["n"] == 1
        assert await asyncio.wait_for(job.result(), 30) == 7  # By a wake-up: the poll is a minute.
        assert await asyncio.wait_for(behind.result(), 30) == 8
    assert await numbers(app) == [7]
    assert (await verify(app.store)).findings == ()
    # The lanes created inside are cached now, and work without a transaction.
    assert await (await app.enqueue(note.call(9), queue="one never seen")).state() is State.READY


async def test_an_exception_undoes_both(app: App, note: Task[[int], int]) -> None:
    made = []

    async def change_my_mind() -> None:
        async with app.transaction() as tx:
            await tx.execute(insert(app), 7)
            made.append(await app.enqueue(note.call(7), queue="q", transaction=tx))
            raise RuntimeError("changed my mind")

    with pytest.raises(RuntimeError, match="changed my mind"):
        await change_my_mind()
    (job,) = made
    with pytest.raises(JobNotFound):
        await job.state()
    assert await numbers(app) == []
    assert await app.jobs() == []
    assert await app.events_after() == []
    # Nor is a lane cached that was never committed.
    assert await (await app.enqueue(note.call(9), queue="q")).state() is State.READY


async def test_a_refusal_undoes_its_batch_and_nothing_else(app: App, note: Task[[int], int]) -> None:
    await app.enqueue(note.call(1), unique_key="u", delay=60)
    async with app.transaction() as tx:
        await tx.execute(insert(app), 7)
        with pytest.raises(UniqueKeyTaken):
            await app.enqueue_many([note.call(2), note.call(3).set(unique_key="u")], transaction=tx)
        await app.enqueue(note.call(4), transaction=tx)
    assert [job.args for job in await app.jobs()] == ['{"number":1}', '{"number":4}']
    assert await numbers(app) == [7]
    assert (await verify(app.store)).findings == ()


async def test_a_task_may_pass_its_own(kit: TestKit) -> None:
    app = kit.app

    made: list[str] = []

    @app.task(retries=1, retry_delay=1)
    async def father(ctx: Context) -> None:
        made.append((await app.enqueue(child.call(), queue="q", transaction=await ctx.transaction())).id)
        if ctx.attempt == 1:
            raise RuntimeError

    @app.task
    async def child() -> None: ...

    await app.enqueue(father.call())
    assert await kit.run_all() == 3
    with pytest.raises(JobNotFound):
        await app.job(made[0]).state()
    assert await app.job(made[1]).state() is State.SUCCEEDED


async def test_it_has_ended_when_the_block_has(app: App, note: Task[[int], int]) -> None:
    async with app.transaction() as tx:
        pass
    with pytest.raises(DatabaseUnavailable, match="has ended"):
        await tx.fetch("SELECT 1")
    with pytest.raises(DatabaseUnavailable, match="has ended"):
        await app.enqueue(note.call(1), transaction=tx)
    with pytest.raises(DatabaseUnavailable, match="leave its end to the engine"):
        async with app.transaction() as tx:
            await tx.execute("COMMIT")


async def test_on_sqlite_nothing_else_will_do(sqlite_url: str, tmp_path: Any) -> None:
    async with App(sqlite_url) as app, App(f"sqlite:///{tmp_path}/other.db") as other:
        task = app.task(_task)
        async with other.transaction() as foreign:
            for thing in (foreign, foreign.connection, object()):
                with pytest.raises(InvalidInput, match=r"app\.transaction\(\)"):
                    await app.enqueue(task.call(), transaction=thing)
        assert await app.jobs() == await other.jobs() == []


async def _task() -> None: ...


async def test_on_sqlite_it_may_not_last(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.database.sqlite.USER_TRANSACTION_SECONDS", 1.0)
    async with App(sqlite_url) as app:
        task = app.task(_task)

        async def take_long() -> None:
            async with app.transaction() as tx:
                await app.enqueue(task.call(), transaction=tx)
                await asyncio.wait_for(app.enqueue(task.call()), 10)  # Waits for the lock until the time limit.
                await app.enqueue(task.call(), transaction=tx)

        with pytest.raises(TransactionTooLong):
            await take_long()
        assert len(await app.jobs()) == 1
