"""A caller's transaction on PostgreSQL through every driver and wrapper that is accepted, behind the same few words."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

import asyncpg
import psycopg
from psycopg.rows import dict_row
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session, async_sessionmaker
from sqlalchemy.ext.asyncio import create_async_engine as create_engine


class Caller(NamedTuple):
    """An object passed as `transaction`, with the actions of its owner."""

    transaction: Any
    execute: Callable[[str], Awaitable[Any]]
    commit: Callable[[], Awaitable[Any]]
    roll_back: Callable[[], Awaitable[Any]]


@contextlib.asynccontextmanager
async def of_asyncpg(url: str) -> AsyncIterator[Caller]:
    connection = await asyncpg.connect(url)
    transaction = connection.transaction()
    await transaction.start()
    yield Caller(connection, connection.execute, transaction.commit, transaction.rollback)
    await connection.close()


@contextlib.asynccontextmanager
async def of_asyncpg_with_a_json_codec(url: str) -> AsyncIterator[Caller]:
    """As people do who want dicts for json: whatever is passed as json is encoded first."""
    import json

    async with of_asyncpg(url) as caller:
        for name in ("json", "jsonb"):
            await caller.transaction.set_type_codec(name, encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
        await caller.transaction.set_type_codec("uuid", encoder=str, decoder=str, schema="pg_catalog")
        yield caller


@contextlib.asynccontextmanager
async def of_an_asyncpg_pool(url: str) -> AsyncIterator[Caller]:
    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool, pool.acquire() as connection:
        await connection.execute("BEGIN")
        yield Caller(
            connection,
            connection.execute,
            lambda: connection.execute("COMMIT"),
            lambda: connection.execute("ROLLBACK"),
        )


@contextlib.asynccontextmanager
async def of_psycopg(url: str) -> AsyncIterator[Caller]:
    """Its transaction begins with its first statement, which may be ours."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        yield Caller(connection, connection.execute, connection.commit, connection.rollback)


@contextlib.asynccontextmanager
async def of_psycopg_with_its_own_ways(url: str) -> AsyncIterator[Caller]:
    connection = await psycopg.AsyncConnection.connect(
        url, autocommit=True, row_factory=dict_row, cursor_factory=psycopg.AsyncClientCursor, prepare_threshold=0
    )
    async with connection:
        await connection.execute("BEGIN")
        yield Caller(
            connection,
            connection.execute,
            lambda: connection.execute("COMMIT"),
            lambda: connection.execute("ROLLBACK"),
        )


def _of_sqlalchemy(driver: str, wrapper: str) -> "Kind":
    @contextlib.asynccontextmanager
    async def of_sqlalchemy(url: str) -> AsyncIterator[Caller]:
        engine = create_engine(url.replace("postgresql://", f"postgresql+{driver}://"))
        sessions = async_sessionmaker(engine)
        if wrapper == "scoped":
            scoped: async_scoped_session[AsyncSession] = async_scoped_session(sessions, scopefunc=lambda: 0)
            yield _words(scoped)
            await scoped.remove()
        else:
            async with engine.connect() if wrapper == "connection" else sessions() as opened:
                yield _words(opened)
        await engine.dispose()

    return of_sqlalchemy


def _words(opened: AsyncConnection | AsyncSession | async_scoped_session[AsyncSession]) -> Caller:
    return Caller(opened, lambda sql: opened.execute(text(sql)), opened.commit, opened.rollback)


Kind = Callable[[str], contextlib.AbstractAsyncContextManager[Caller]]

KINDS: dict[str, Kind] = {
    "asyncpg": of_asyncpg,
    "asyncpg with a json codec": of_asyncpg_with_a_json_codec,
    "asyncpg pool": of_an_asyncpg_pool,
    "psycopg": of_psycopg,
    "psycopg, its own ways": of_psycopg_with_its_own_ways,
} | {
    f"sqlalchemy {wrapper} over {driver}": _of_sqlalchemy(driver, wrapper)
    for driver in ("asyncpg", "psycopg")
    for wrapper in ("connection", "session", "scoped")
}
