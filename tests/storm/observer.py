"""A connection to either database that bypasses the store and sees only what is committed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import apsw
import asyncpg

from hanbeon.store.dialect import Postgres, Sqlite, translate


class Observer(Protocol):
    """Every `fetch` is one statement and one snapshot, in the portable SQL of `dialect.py`."""

    async def fetch(self, sql: str, *args: Any) -> Sequence[Sequence[Any]]: ...


class _PostgresObserver:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def fetch(self, sql: str, *args: Any) -> Sequence[Sequence[Any]]:
        rows: Sequence[Sequence[Any]] = await self._connection.fetch(translate(sql, Postgres), *args)
        return rows


class _SqliteObserver:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def fetch(self, sql: str, *args: Any) -> Sequence[Sequence[Any]]:
        return list(self._connection.execute(translate(sql, Sqlite), args))


@asynccontextmanager
async def observer(url: str) -> AsyncIterator[Observer]:
    if urlsplit(url).scheme == "sqlite":
        # Through apsw, like the engine: a second SQLite library in one process would drop the first one's locks.
        file = apsw.Connection(unquote(urlsplit(url).path.removeprefix("/")), flags=apsw.SQLITE_OPEN_READONLY)
        file.set_busy_timeout(20_000)
        try:
            yield _SqliteObserver(file)
        finally:
            file.close()
        return
    # Statistics lag behind a queue that fills and drains; a plan made from them would make the samples few.
    connection = await asyncpg.connect(url, server_settings={"enable_seqscan": "off", "jit": "off"})
    try:
        yield _PostgresObserver(connection)
    finally:
        await connection.close()


async def query(url: str, sql: str, *args: Any) -> Sequence[Sequence[Any]]:
    """Return the rows of one statement."""
    async with observer(url) as database:
        return await database.fetch(sql, *args)
