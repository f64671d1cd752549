"""The connection that is kept between single statements: no error and no shortage of connections follows from it."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from hanbeon.errors import DatabaseUnavailable
from hanbeon.store.database.kept_connection import KeptConnection
from hanbeon.store.database.postgres import PostgresDatabase

PID = "SELECT pg_backend_pid() AS pid"
SLEEP = "SELECT pg_sleep(60)"


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(postgres_url, pool_size=2)
    await database.open()
    yield database
    await database.close()


def kept_of(database: PostgresDatabase) -> KeptConnection:
    assert database._kept is not None
    return database._kept


async def pid(kept: KeptConnection) -> int:
    return int((await kept.fetch(PID))[0]["pid"])


async def test_statements_in_turn_use_one_session(database: PostgresDatabase) -> None:
    kept = kept_of(database)
    assert len({await pid(kept) for _ in range(5)}) == 1
    async with database.connection() as other:
        assert await other.fetchval("SELECT pg_backend_pid()") != await pid(kept)


async def test_a_statement_beside_another_uses_the_pool(database: PostgresDatabase) -> None:
    incarnations = await asyncio.gather(*(database.fetch("incarnation") for _ in range(20)))
    assert {rows[0]["id"] for rows in incarnations} == {database.incarnation}


async def test_the_last_connection_goes_to_others(database: PostgresDatabase) -> None:
    kept = kept_of(database)
    session = await pid(kept)
    async with asyncio.timeout(30), database.connection() as first, database.connection() as second:
        assert session in {await each.fetchval("SELECT pg_backend_pid()") for each in (first, second)}


async def test_the_only_connection_of_a_pool_is_not_kept(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url, pool_size=1)
    await database.open()
    async with asyncio.timeout(30):
        for _ in range(3):
            await pid(kept_of(database))
            async with database.connection() as connection:
                await connection.fetchval("SELECT 1")
    await database.close()


async def test_an_error_throws_the_session_away(database: PostgresDatabase) -> None:
    kept = kept_of(database)
    session = await pid(kept)
    with pytest.raises(asyncpg.DivisionByZeroError):
        await kept.fetch("SELECT 1 / 0")
    assert not kept.is_busy
    assert await pid(kept) != session


async def test_a_cancelled_statement_throws_the_session_away(database: PostgresDatabase) -> None:
    kept = kept_of(database)
    session = await pid(kept)
    sleeping = asyncio.create_task(kept.fetch(SLEEP))
    async with database.connection() as other:
        running = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND query = $2 AND state = 'active'"
        while not await other.fetchval(running, session, SLEEP):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping
    assert await pid(kept) != session
    # None of them is lost to the pool.
    async with asyncio.timeout(30), database.connection(), database.connection():
        pass


async def test_a_session_that_ended_while_idle_costs_no_error(database: PostgresDatabase) -> None:
    kept = kept_of(database)
    session = await pid(kept)
    async with database.connection() as other:
        await other.fetchval("SELECT pg_terminate_backend($1, 30000)", session)
    assert await pid(kept) != session


async def test_a_closed_database_refuses(database: PostgresDatabase) -> None:
    await database.fetch("incarnation")
    await database.close()
    with pytest.raises(DatabaseUnavailable, match="closed"):
        await database.fetch("incarnation")
