"""Objects that cannot carry jobs are rejected with a remedy, and nothing is written."""

import asyncio
import sqlite3
import subprocess
import sys
from typing import Any

import asyncpg
import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session

from hanbeon import App, Task
from hanbeon.errors import (
    DatabaseUnavailable,
    InvalidInput,
    NotInTransaction,
    OtherDatabase,
    TransactionUndone,
    UnknownDependency,
)
from tests.databases.postgres import PostgresServer
from tests.store.external.callers import Caller, of_asyncpg

Send = Task[[str], str]


async def test_a_connection_outside_of_a_transaction(app: App, send: Send, url: str) -> None:
    connection = await asyncpg.connect(url)
    with pytest.raises(NotInTransaction, match=r"async with connection\.transaction\(\)"):
        await app.enqueue(send.call("a"), transaction=connection)
    await connection.close()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as idle:
        with pytest.raises(NotInTransaction):
            await app.enqueue(send.call("a"), transaction=idle)
        async with idle.transaction():
            await app.enqueue(send.call("a"), transaction=idle)
    for driver in ("asyncpg", "psycopg"):
        engine = create_async_engine(url.replace("://", f"+{driver}://"), isolation_level="AUTOCOMMIT")
        async with engine.connect() as autocommitting:
            with pytest.raises(NotInTransaction):
                await app.enqueue(send.call("a"), transaction=autocommitting)
        await engine.dispose()
    assert len(await app.jobs()) == 1


async def test_a_transaction_that_failed_already(app: App, send: Send, caller: Caller) -> None:
    with pytest.raises(Exception, match="division by zero"):
        await caller.execute("SELECT 1 / 0")
    with pytest.raises(TransactionUndone, match="roll it back"):
        await app.enqueue(send.call("a"), transaction=caller.transaction)
    await caller.roll_back()
    assert await app.jobs() == []


async def test_a_transaction_that_may_only_read(app: App, send: Send, caller: Caller) -> None:
    await caller.execute("SET TRANSACTION READ ONLY")
    with pytest.raises(InvalidInput, match="may only read"):
        await app.enqueue(send.call("a"), transaction=caller.transaction)
    await caller.execute("SELECT 1")
    await caller.roll_back()


async def test_a_server_that_became_read_only_is_unavailable(app: App, send: Send) -> None:
    """The App began the transaction itself, so the refusal says nothing about the user's code."""
    async with app.transaction() as transaction:
        await transaction.execute("SET TRANSACTION READ ONLY")
        with pytest.raises(DatabaseUnavailable, match="read-only"):
            await app.enqueue(send.call("a"), transaction=transaction)
    assert await app.jobs() == []


async def test_another_database(app: App, send: Send, postgres_server: PostgresServer) -> None:
    with postgres_server.database() as empty:
        async with of_asyncpg(empty) as caller:
            with pytest.raises(OtherDatabase, match="to another"):
                await app.enqueue(send.call("a"), transaction=caller.transaction)
            await caller.commit()
        await App(empty).migrate()
        async with of_asyncpg(empty) as caller:
            with pytest.raises(OtherDatabase):
                await app.enqueue(send.call("a"), queue="unheard of", transaction=caller.transaction)
            await caller.commit()
    assert [queue.name for queue in await app.queues()] == []


async def test_the_database_is_known_again_after_a_restart(private_postgres: PostgresServer) -> None:
    url = private_postgres.create_database()
    await App(url).migrate()
    async with App(url) as app:
        send = app.task(_send)
        async with of_asyncpg(url) as caller:
            await app.enqueue(send.call("a"), transaction=caller.transaction)
            await caller.commit()
        await asyncio.to_thread(private_postgres.restart)
        async with of_asyncpg(url) as caller:
            for _ in range(3):  # The pool finds its broken connections one after the other.
                try:
                    await app.enqueue(send.call("b"), transaction=caller.transaction)
                except DatabaseUnavailable:
                    continue
                break
            await caller.commit()
        assert len(await app.jobs()) == 2


async def _send(to: str) -> None: ...


async def test_a_role_without_rights(app: App, send: Send, url: str) -> None:
    async with of_asyncpg(url) as caller:
        await caller.execute("CREATE ROLE stranger")
        await caller.execute("SET LOCAL ROLE stranger")
        with pytest.raises(DatabaseUnavailable, match=r"grant .* docs/operations\.md"):
            await app.enqueue(send.call("a"), transaction=caller.transaction)
        await caller.roll_back()


async def test_a_newer_conflict_under_repeatable_read(app: App, send: Send, caller: Caller, url: str) -> None:
    """A snapshot that is too old raises a serialization error, and a repetition succeeds."""
    keyed = send.call("a").set(idempotency_key="i")
    await caller.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    await caller.execute("SELECT count(*) FROM orders")
    first = await app.enqueue(keyed)
    with pytest.raises(TransactionUndone, match="run it again"):
        await app.enqueue(keyed, transaction=caller.transaction)
    with pytest.raises(UnknownDependency):
        await app.enqueue(send.call("b").set(after=[first]), transaction=caller.transaction)
    await caller.roll_back()
    async with of_asyncpg(url) as again:
        await again.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert not (await app.enqueue(keyed, transaction=again.transaction)).created
        await again.commit()
    assert len(await app.jobs()) == 1


async def test_objects_of_the_wrong_kind(app: App, send: Send, url: str) -> None:
    pool = await asyncpg.create_pool(url, min_size=0)
    engine = create_engine(url.replace("://", "+psycopg://"))
    things: list[tuple[Any, str]] = [
        (pool, "acquire a connection from the pool"),
        (object(), r"the object that app\.transaction\(\) yields"),
        (sqlite3.connect(":memory:"), "must be a transaction"),
        (psycopg.connect(url), r"psycopg\.Connection, which would block the event loop"),
        (engine.connect(), r"sqlalchemy\.Connection, which would block"),
        (Session(engine), "enqueue through a SyncApp"),
    ]
    for thing, words in things:
        with pytest.raises(InvalidInput, match=words):
            await app.enqueue(send.call("a"), transaction=thing)
        if hasattr(thing, "close") and thing is not pool:
            thing.close()
    await pool.close()
    engine.dispose()


async def test_sqlalchemy_over_a_driver_that_is_not_known(app: App, send: Send, url: str) -> None:
    engine = create_async_engine(url.replace("://", "+asyncpg://"))
    engine.dialect.driver = "psycopg2"
    async with engine.connect() as connection:
        with pytest.raises(InvalidInput, match=r"postgresql\+asyncpg:// or postgresql\+psycopg://"):
            await app.enqueue(send.call("a"), transaction=connection)
    await engine.dispose()


async def test_a_caller_that_gives_up_leaves_no_half_of_it(app: App, send: Send, url: str) -> None:
    """Cancelled while it waits for a key that another transaction has: nothing is written, and it can go on."""
    async with of_asyncpg(url) as first, of_asyncpg(url) as second:
        await app.enqueue(send.call("a"), unique_key="u", transaction=first.transaction)
        batch = [send.call("b"), send.call("c").set(unique_key="u")]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(app.enqueue_many(batch, transaction=second.transaction), 0.3)
        await second.execute("INSERT INTO orders VALUES (1)")
        await second.commit()
        await first.commit()
    assert len(await app.jobs()) == 1


async def test_a_caller_that_is_killed_leaves_nothing(app: App, send: Send, url: str) -> None:
    caller = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.store.external.victim", url, stdout=asyncio.subprocess.PIPE
    )
    assert caller.stdout is not None
    assert await asyncio.wait_for(caller.stdout.readline(), 60) == b"enqueued\n"
    caller.kill()
    await caller.wait()
    async with of_asyncpg(url) as other:  # Waits until the server has noticed.
        await asyncio.wait_for(other.execute("INSERT INTO orders VALUES (1)"), 30)
        await other.commit()
    assert await app.jobs() == []
    assert await app.events_after() == []


def test_no_library_of_a_caller_is_imported_by_us(sqlite_url: str) -> None:
    script = f"""
import asyncio, sys
from hanbeon import App
app = App({sqlite_url!r})
@app.task
async def t() -> None: ...
async def main():
    async with app, app.transaction() as tx:
        await app.enqueue(t.call(), transaction=tx)
asyncio.run(main())
assert not {{"psycopg", "sqlalchemy"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=60)
