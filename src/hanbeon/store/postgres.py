"""PostgreSQL through asyncpg: many hosts. No session state, so that a transaction-mode pooler may stand between."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import asyncpg
import msgspec

from hanbeon.domain.events import Event
from hanbeon.errors import DatabaseUnavailable
from hanbeon.store import schema
from hanbeon.store.dialect import Postgres
from hanbeon.store.statements import statement
from hanbeon.store.tx import Tx

T = TypeVar("T")

# Statistics lag behind a queue that fills and drains, and a plan made from them walks the whole table. The engine finds
# rows by index only, so it forbids the other plans, for its own transaction and nobody else's.
_PLANS = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; "
    "SET LOCAL jit = off; SET LOCAL plan_cache_mode = force_generic_plan"
)
_BEGIN = f"BEGIN; {_PLANS}"
_BEGIN_READING = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_PLANS}"
# A doubled key, too: what was checked a statement before may have been taken since, and the next try sees by whom.
_RETRIED = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.UniqueViolationError)
_TRIES = 5
_MIGRATION_LOCK = 0x68616E62656F6E  # "hanbeon"


class _Connection(asyncpg.Connection):
    """Keeps no session state, so there is nothing to reset between two uses."""

    def get_reset_query(self) -> str:
        return ""


class PostgresTx:
    """An open transaction on one connection; see `Tx`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._events: list[Event] = []
        self.hints: set[str] = set()

    async def fetch(self, name: str, *args: Any) -> Sequence[Any]:
        rows: Sequence[Any] = await self._connection.fetch(statement(name, Postgres), *args)
        return rows

    def emit(self, *events: Event) -> None:
        self._events.extend(events)

    def wake(self, *hints: str) -> None:
        self.hints.update(hints)

    async def write_events(self) -> None:
        if self._events:
            await self.fetch("insert_events", len(self._events), msgspec.json.encode(self._events).decode())
            self.hints.add("event")


class PostgresDatabase:
    """A pool of connections to one database."""

    dialect = Postgres

    def __init__(self, url: str, *, pool_size: int = 10, statement_timeout: float = 60.0) -> None:
        self.url = url
        self._pool_size = pool_size
        self._statement_timeout = statement_timeout
        self._pool: Any = None

    @property
    def is_open(self) -> bool:
        return self._pool is not None

    async def open(self) -> None:
        """Connect and check the schema; `migrate` brings it up to date, on purpose and never by itself."""
        await self.connect()
        try:
            async with self.connection() as connection:
                schema.check(*await _version(connection))
        except BaseException:
            await self.close()
            raise

    async def connect(self) -> None:
        with _border():
            self._pool = await asyncpg.create_pool(
                self.url,
                min_size=1,
                max_size=self._pool_size,
                connection_class=_Connection,
                command_timeout=self._statement_timeout,
                timeout=10,
            )

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            try:
                await asyncio.wait_for(pool.close(), 5)
            except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                pool.terminate()

    async def migrate(self) -> list[int]:
        """Apply what is missing, once, however many ask at the same time; the versions applied."""
        applied: list[int] = []
        async with self.connection() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _MIGRATION_LOCK)
            version, _ = await _version(connection)
            if version is None:
                await connection.execute("CREATE SCHEMA IF NOT EXISTS hanbeon")
                await connection.execute(schema.CREATE_VERSION_TABLE)
            for migration in schema.pending(version or 0):
                await connection.execute(schema.script(migration, Postgres))
                await connection.execute(schema.WRITE_VERSION, migration.version, migration.runs_from)
                applied.append(migration.version)
        return applied

    async def transact(self, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, set[str]]:
        """Run the operation in a transaction, again if a deadlock or a serialisation failure undid it."""
        for attempt in range(_TRIES):
            try:
                async with self.connection() as connection:
                    return await _transact(connection, operation)
            except _RETRIED:
                if attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(0.01 * 2**attempt)
        raise AssertionError("unreachable")

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Run the operation on one consistent view."""
        async with self.connection() as connection:
            await connection.execute(_BEGIN_READING)
            try:
                return await operation(PostgresTx(connection))
            finally:
                await asyncio.shield(_roll_back(connection))

    async def lend(self) -> PostgresLent:
        with _border():
            # Beside the pool: tasks hold these open for as long as they run, and must not starve the heartbeats.
            connection = await asyncpg.connect(self.url, timeout=10)
            await connection.execute("BEGIN")
        return PostgresLent(connection)

    async def notify(self, channel: str, payload: str) -> None:
        async with self.connection() as connection:
            await connection.execute("SELECT pg_notify($1, $2)", channel, payload)

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """A connection of the pool, for what is not an operation."""
        if self._pool is None:
            raise DatabaseUnavailable("the database is closed; open the App first")
        with _border():
            async with self._pool.acquire(timeout=10) as connection:
                yield connection


class PostgresLent:
    """A transaction lent to a task on a connection of its own. It takes no lock on the job's row before its end."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @property
    def connection(self) -> Any:
        return self._connection

    async def execute(self, sql: str, *args: Any) -> None:
        await self._connection.execute(sql, *args)

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        rows: Sequence[Any] = await self._connection.fetch(sql, *args)
        return rows

    async def finish(self, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, set[str]]:
        try:
            with _border():
                if not self._connection.is_in_transaction():
                    raise DatabaseUnavailable(
                        "the task ended the transaction itself; write through it, but leave its end to the engine"
                    )
                await self._connection.execute(_PLANS)
                return await _commit(self._connection, operation)
        finally:
            await self.abandon()

    async def abandon(self) -> None:
        connection = self._connection
        if not connection.is_closed():
            # A closed connection is a rolled-back transaction; asking politely could wait for a server that is gone.
            connection.terminate()


async def _transact(connection: Any, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, set[str]]:
    await connection.execute(_BEGIN)
    try:
        return await _commit(connection, operation)
    except BaseException:
        await asyncio.shield(_roll_back(connection))
        raise


async def _commit(connection: Any, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, set[str]]:
    tx = PostgresTx(connection)
    answer = await operation(tx)
    await tx.write_events()
    await connection.execute("COMMIT")
    return answer, tx.hints


async def _roll_back(connection: Any) -> None:
    if connection.is_closed():
        return
    try:
        await connection.execute("ROLLBACK", timeout=5)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        connection.terminate()


async def _version(connection: Any) -> tuple[int | None, int | None]:
    if await connection.fetchval("SELECT to_regclass('hanbeon.schema_version')") is None:
        return None, None
    row = await connection.fetchrow(schema.READ_VERSION)
    return (row["version"], row["runs_from"]) if row else (None, None)


@contextlib.contextmanager
def _border() -> Any:
    """The border to asyncpg: a server that is not there, or goes away, is DatabaseUnavailable and worth another try."""
    try:
        yield
    except (
        OSError,
        asyncpg.PostgresConnectionError,
        asyncpg.CannotConnectNowError,
        asyncpg.AdminShutdownError,
        asyncpg.CrashShutdownError,
        asyncpg.TooManyConnectionsError,
        asyncpg.QueryCanceledError,
    ) as error:
        raise DatabaseUnavailable(
            f"PostgreSQL does not answer: {error}; check that it runs and can be reached"
        ) from error
    except (asyncpg.InvalidCatalogNameError, asyncpg.InvalidAuthorizationSpecificationError) as error:
        raise DatabaseUnavailable(f"PostgreSQL refuses the connection: {error}; check HANBEON_DATABASE_URL") from error
    except asyncpg.InterfaceError as error:
        # Raised for a connection that broke under us as well as for misuse; only the first is worth another try.
        raise DatabaseUnavailable(f"the connection to PostgreSQL broke: {error}") from error
