"""PostgreSQL through asyncpg: many hosts.

Behind a pooler, perhaps in transaction mode, it keeps no session state; otherwise the settings of the planner.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from hanbeon.cleanup import cleanup
from hanbeon.errors import DatabaseUnavailable
from hanbeon.rule import Rule
from hanbeon.store import schema
from hanbeon.store.database.drivers import asyncpg, asyncpg_classes
from hanbeon.store.database.kept_connection import KeptConnection, is_gone
from hanbeon.store.database.postgres_errors import border, user_border
from hanbeon.store.dialect import Postgres
from hanbeon.store.statements import statement
from hanbeon.store.tx import AfterCommit, Copy, FastSteps, Tx
from hanbeon.store.tx_base import TxBase
from hanbeon.store.user_transaction import ENDED, ENDED_BY_ITS_USER

T = TypeVar("T")

# Statistics lag behind a queue that fills and drains, and a plan based on them scans the whole table. The engine finds
# rows by index only, so it disables the other plans, for its own transactions only.
_SESSION = {
    **dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"), "off"),
    "plan_cache_mode": "force_generic_plan",
}
_PLANS = "; ".join(f"SET LOCAL {name} = {value}" for name, value in _SESSION.items())
# The session of a host that died or froze survives for hours, and so do the locks of its transaction: the row of a
# limited queue, of a job to be recovered. The engine sends one statement after the other and is never idle for long.
_NEVER_IDLE = "SET LOCAL idle_in_transaction_session_timeout = '5s'"
# With these the server probes the host, and a dead one is detected within half a minute, not after hours: for tasks,
# which may leave their transaction idle for as long as they work.
_KEEPALIVES = (
    "SET LOCAL tcp_keepalives_idle = 10; SET LOCAL tcp_keepalives_interval = 5; SET LOCAL tcp_keepalives_count = 4"
)
_BEGIN_USER_TRANSACTION = f"BEGIN; {_KEEPALIVES}"
# Between the preparation of a statement and its first run, while the server waits for the client, a session does not
# count as idle.
_LONGEST_SECONDS = 20
_FIRST_WITH_TRANSACTION_TIMEOUT = 17
# A read-only transaction holds no locks, and an audit computes for long between its statements.
_BEGIN_READING = (
    f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_PLANS}; {_KEEPALIVES}; "
    "SET LOCAL idle_in_transaction_session_timeout = '10min'"
)
_TRIES = 5
CHANNEL = Postgres.words["channel"]
NOTIFY = "SELECT pg_notify($1, $2)"
# Not the system identifier: copies of a server's files share it.
IDENTITY = (
    "SELECT concat((SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database()), ' since ', "
    "extract(epoch FROM pg_postmaster_start_time()))"
)
# A plan for a table that was analysed while it was empty reads all of it, and the server keeps the plan until the next
# ANALYZE, which may be far away. Preparing the statement again makes the planner count the actual pages.
_PLAN_SECONDS = 30
_CONNECT_SECONDS = 10.0
_PORT = 5432
_HAS_PORT = re.compile(r":\d+$")
_CLOSE_SECONDS = 5.0
_USER_TRANSACTIONS_AT_MOST = 100
_MIGRATION_LOCK = 0x68616E62656F6E  # "hanbeon"


class PostgresTx(TxBase):
    """An open transaction on one connection; see `Tx`."""

    has_round_trips = True

    def __init__(self, connection: Any, seconds: float = math.inf, *, copies: bool = False) -> None:
        """`copies`: it may use COPY, since it is begun again after a conflict, and was not yet."""
        super().__init__(seconds)
        self._connection, self._copies = connection, copies

    async def fetch(self, name: str, *args: Any, precondition: str | None = None) -> Sequence[Any]:
        rows: Sequence[Any] = await self._connection.fetch(statement(name, Postgres, precondition), *args)
        return rows

    @property
    def copy(self) -> Copy | None:
        return self._copy if self._copies else None

    async def _copy(self, table: str, columns: Sequence[str], lines: AsyncIterator[bytes]) -> None:
        await self._connection.copy_to_table(
            table, schema_name="hanbeon", columns=columns, source=lines, encoding="utf-8"
        )


class PostgresDatabase:
    """A pool of connections to one database."""

    dialect = Postgres
    writes_if_damaged = True

    def __init__(self, url: str, *, pool_size: int = 10, statement_timeout: float = 30.0) -> None:
        self.url = url
        self._pool_size = pool_size
        self._statement_timeout = statement_timeout
        self._pool: Any = None
        self._kept: KeptConnection | None = None
        # A separate pool: tasks hold these connections for as long as they run, and must not starve the heartbeats.
        self._user_pool: Any = None
        self._identity: str | None = None
        self.incarnation: str | None = None
        """The incarnation that was opened; transactions are refused in another."""
        self.fast: FastSteps | None = None
        """Shorter ways within transactions that write."""
        self.pooled = False
        """True if connected through a pooler, perhaps in transaction mode: each transaction may use another session."""

    def twin(self) -> PostgresDatabase:
        """Return the same database, to be opened on another event loop, with a connection of its own."""
        return PostgresDatabase(self.url, pool_size=1, statement_timeout=self._statement_timeout)

    @property
    def is_open(self) -> bool:
        return self._pool is not None

    async def open(self) -> None:
        """Connect and check the schema; migrating is an explicit step, `migrate`."""
        await self.connect()
        try:
            async with self.connection() as connection, connection.transaction():
                schema.check(*await _version(connection))
                self.incarnation = str(await connection.fetchval(statement("incarnation", Postgres)))
        except BaseException:
            await self.close()
            raise

    async def connect(self) -> None:
        try:
            await self._connect()
        except BaseException:
            await self.close()  # Of two pools the first may be open.
            raise

    async def _connect(self) -> None:
        with border(address_of(self.url)):
            self.pooled = await _is_pooled(self.url)
            # A prepared statement belongs to a session, which the next transaction may not have. Unnamed statements,
            # which are used then, last until the next one; so anything with parameters or rows must be in a
            # transaction.
            cached: dict[str, Any] = {"statement_cache_size": 0} if self.pooled else {}
            # Otherwise a statement that is a transaction by itself has them from the session, too.
            settled: dict[str, Any] = {} if self.pooled else {"server_settings": _SESSION}
            self._pool = await asyncpg.create_pool(
                self.url,
                min_size=1,
                max_size=self._pool_size,
                connection_class=asyncpg_classes.UnresetConnection,
                command_timeout=self._statement_timeout,
                timeout=_CONNECT_SECONDS,
                max_cached_statement_lifetime=_PLAN_SECONDS,
                **cached,
                **settled,
            )
            self._kept = None if self.pooled else KeptConnection(self._pool, _CONNECT_SECONDS)
            # Reset after each use, by the library's own class: a task's SET or locks must not affect the next one. With
            # a pooler the reset would reach some other session.
            self._user_pool = await asyncpg.create_pool(
                self.url,
                min_size=0,
                max_size=_USER_TRANSACTIONS_AT_MOST,
                timeout=_CONNECT_SECONDS,
                connection_class=asyncpg_classes.UnresetConnection if self.pooled else asyncpg.Connection,
                **cached,
            )

    @cleanup
    async def close(self) -> None:
        pools, self._pool, self._user_pool = (self._pool, self._user_pool), None, None
        kept, self._kept = self._kept, None
        if kept is not None:
            with contextlib.suppress(*asyncpg_classes.BROKEN):
                await kept.close()
        for pool in pools:
            if pool is not None:
                try:
                    async with asyncio.timeout(_CLOSE_SECONDS):
                        await pool.close()
                except asyncpg_classes.BROKEN:
                    pool.terminate()

    async def migrate(self) -> list[int]:
        """Apply the pending migrations, once, even if called concurrently; return the versions applied."""
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
            schema.check(*await _version(connection))
        return applied

    async def transact(self, operation: Callable[[Tx], Awaitable[T]], seconds: float = 0.0) -> tuple[T, AfterCommit]:
        """Run the operation in a transaction, again if a deadlock or a serialisation failure rolled it back.

        Also after a unique violation: a key that was free one statement earlier may have been taken, and the next try
        sees it.

        It is rolled back if it exceeds the time limit, which `seconds` extends.
        """
        for attempt in range(_TRIES):
            try:
                async with self.connection() as connection:
                    return await self._transact(connection, operation, seconds, copies=attempt == 0)
            except (DatabaseUnavailable, asyncpg.UniqueViolationError) as error:
                # Of what the border translates, only these are certain to be rolled back and worth another try.
                is_lost_race = isinstance(error, asyncpg.UniqueViolationError)
                if not is_lost_race and not isinstance(error.__cause__, asyncpg_classes.ROLLED_BACK):
                    raise
                if attempt == _TRIES - 1:
                    if is_lost_race:
                        raise
                    raise DatabaseUnavailable(Rule("rolled_back_often", times=_TRIES, error=error.__cause__)) from error
                await asyncio.sleep(0.01 * 2**attempt)
        raise AssertionError("unreachable")

    async def _transact(
        self, connection: Any, operation: Callable[[Tx], Awaitable[T]], seconds: float, *, copies: bool
    ) -> tuple[T, AfterCommit]:
        await connection.execute(f"{_begin(connection.get_server_version().major, seconds)}{self._check}")
        return await _commit(connection, operation, self.fast, seconds, copies=copies and self.fast is not None)

    @property
    def _check(self) -> str:
        """Sent with the BEGIN, so that it costs no round trip: a text, since that message takes no parameters."""
        return "" if self.incarnation is None else f"; SELECT hanbeon.check_incarnation('{self.incarnation}')"

    async def fetch(self, name: str, *args: Any, precondition: str | None = None) -> Sequence[Any]:
        """Run a named statement as a transaction by itself: one round trip instead of three.

        No rows if a key was taken at the same moment, or if a deadlock rolled it back: nothing was written, and the
        general path finds out why, or tries again.
        """
        try:
            return await self._fetch(name, *args, precondition=precondition)
        except asyncpg.UniqueViolationError:
            return []
        except DatabaseUnavailable as error:
            if not isinstance(error.__cause__, asyncpg_classes.ROLLED_BACK):
                raise
            return []

    async def _fetch(self, name: str, *args: Any, precondition: str | None) -> Sequence[Any]:
        kept = self._kept
        if kept is not None and not kept.is_busy:
            with border():
                return await kept.fetch(statement(name, Postgres, precondition), *args)
        async with self.connection() as connection:
            if not self.pooled:
                return await PostgresTx(connection).fetch(name, *args, precondition=precondition)
            # Preparing and running it are two messages, which a pooler might pass on to two sessions.
            await connection.execute("BEGIN")
            rows = await PostgresTx(connection).fetch(name, *args, precondition=precondition)
            await connection.execute("COMMIT")
            return rows

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Run the operation in a read-only transaction, on one consistent view."""
        async with self.connection() as connection:
            await connection.execute(f"{_BEGIN_READING}{self._check}")
            answer = await operation(PostgresTx(connection))
            await connection.execute("COMMIT")
            return answer

    async def look(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Like `read`, for a single small statement, which is a view by itself: one round trip instead of three."""
        if self.pooled:
            return await self.read(operation)
        async with self.connection() as connection:
            return await operation(PostgresTx(connection))

    async def begin(self) -> PostgresUserTransaction:
        """Begin a transaction for user code. Waits for a free connection; only the task's own timeout limits that."""
        if self._user_pool is None:
            raise DatabaseUnavailable(Rule("database_closed"))
        with border():
            connection = await self._user_pool.acquire()
            try:
                await connection.execute(_BEGIN_USER_TRANSACTION)
            except BaseException:
                connection.terminate()
                await self._user_pool.release(connection)
                raise
        return PostgresUserTransaction(self, connection, self._user_pool)

    async def notify(self, hints: Iterable[str]) -> None:
        # The hints are constants of ours, so they may be inlined: without parameters it needs no transaction around it.
        async with self.connection() as connection:
            await connection.execute(f"NOTIFY {CHANNEL}, '{' '.join(sorted(hints))}'")

    async def identity(self, *, again: bool = False) -> str:
        """Identify the database and the running server; equal for all connections to it, until a restart."""
        if self._identity is None or again:
            async with self.connection() as connection, connection.transaction():
                self._identity = str(await connection.fetchval(IDENTITY))
        return self._identity

    async def responds(self, seconds: float) -> bool:
        """True if the server accepts a new connection and answers on it. A refusal is an answer, too."""
        try:
            async with asyncio.timeout(seconds):
                connection = await asyncpg.connect(self.url, timeout=seconds, statement_cache_size=0)
                try:
                    await connection.execute("SELECT 1")
                finally:
                    connection.terminate()
        except TimeoutError:
            return False
        except asyncpg_classes.BROKEN:
            return True
        return True

    async def check_room(self) -> None:
        """Nothing: only the server sees its disk, and refuses what does not fit."""

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """Acquire a connection of the pool, for what is not an operation."""
        if self._pool is None:
            raise DatabaseUnavailable(Rule("database_closed"))
        with border():
            if self._kept is not None:
                await self._kept.yield_last()
            async with self._pool.acquire(timeout=_CONNECT_SECONDS) as connection:
                try:
                    yield connection
                except BaseException as error:
                    await _roll_back(connection, error)
                    raise


class PostgresUserTransaction:
    """A user's transaction on a connection of its own. It takes no lock on a task's job before its end."""

    is_blocking = False

    def __init__(self, database: PostgresDatabase, connection: Any, pool: Any) -> None:
        self.database = database
        self._connection = connection
        self._pool = pool
        self._given_back = False

    @property
    def connection(self) -> Any:
        if self._given_back:
            raise DatabaseUnavailable(ENDED)
        return self._connection

    async def execute(self, sql: str, *args: Any) -> None:
        with user_border(self._has_gone):
            await self.connection.execute(sql, *args)

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        with user_border(self._has_gone):
            rows: Sequence[Any] = await self.connection.fetch(sql, *args)
        return rows

    def is_in_transaction(self) -> bool:
        return bool(self.connection.is_in_transaction())

    def terminate(self) -> None:
        self._connection.terminate()

    def _has_gone(self) -> bool:
        return is_gone(self._connection)

    async def finish(self, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, AfterCommit]:
        try:
            with border():
                if not self.connection.is_in_transaction():
                    raise DatabaseUnavailable(ENDED_BY_ITS_USER)
                await self._connection.execute(f"{_PLANS}{self.database._check}")
                return await _commit(self._connection, operation, self.database.fast)
        finally:
            await self.abandon()

    async def abandon(self) -> None:
        if self._given_back:
            return
        self._given_back = True
        if not is_gone(self._connection) and self._connection.is_in_transaction():
            # Closing the connection rolls back; a ROLLBACK statement could wait for a server that is gone.
            self._connection.terminate()
        with contextlib.suppress(*asyncpg_classes.BROKEN):
            await self._pool.release(self._connection, timeout=_CLOSE_SECONDS)


def _begin(server_version: int, seconds: float) -> str:
    """Return the beginning of a transaction that may take the usual time, or `seconds` if that is longer.

    The server does not change the timer of a transaction that runs, whatever the setting says: it is stopped first.
    """
    idle, whole = _NEVER_IDLE, f"SET LOCAL transaction_timeout = '{_LONGEST_SECONDS}s'"
    if seconds > _LONGEST_SECONDS:
        # The idle limit, too: with a large batch the client takes long between two statements.
        idle = f"SET LOCAL idle_in_transaction_session_timeout = '{seconds:.0f}s'"
        whole = f"SET LOCAL transaction_timeout = 0; SET LOCAL transaction_timeout = '{seconds:.0f}s'"
    if server_version < _FIRST_WITH_TRANSACTION_TIMEOUT:
        whole = _KEEPALIVES
    return f"BEGIN; {_PLANS}; {idle}; {whole}"


async def _commit(
    connection: Any,
    operation: Callable[[Tx], Awaitable[T]],
    fast: FastSteps | None,
    seconds: float = math.inf,
    *,
    copies: bool = False,
) -> tuple[T, AfterCommit]:
    tx = PostgresTx(connection, seconds, copies=copies)
    tx.fast = fast
    answer = await operation(tx)
    await tx.write_events()
    await connection.execute("COMMIT")
    return answer, tx.after


async def _roll_back(connection: Any, error: BaseException) -> None:
    """Leave a clean connection, or none: one whose statement was abandoned may never respond again."""
    if is_gone(connection):
        return
    if isinstance(error, asyncio.CancelledError | GeneratorExit | OSError):
        connection.terminate()
        return
    if not connection.is_in_transaction():
        return
    try:
        await connection.execute("ROLLBACK", timeout=_CLOSE_SECONDS)
    except asyncpg_classes.BROKEN:
        if not is_gone(connection):
            connection.terminate()


def address_of(url: str) -> str | None:
    """Return host and port of a URL, or several, without user and password; None where the environment has them."""
    parts = urlsplit(url)
    given = parse_qs(parts.query)
    hosts = parts.netloc.rpartition("@")[2] or ",".join(given.get("host", ()))
    if not hosts:
        return None
    port = given.get("port", [str(_PORT)])[-1]
    return ", ".join(each if _HAS_PORT.search(each) else f"{each}:{port}" for each in hosts.split(","))


async def _is_pooled(url: str) -> bool:
    connection = await asyncpg.connect(url, timeout=_CONNECT_SECONDS, statement_cache_size=0)
    try:
        return await is_pooled(connection)
    finally:
        await connection.close(timeout=_CLOSE_SECONDS)


async def is_pooled(connection: Any) -> bool:
    """True if the server process that answers is not the one that was announced when connecting."""
    async with connection.transaction():
        return bool(await connection.fetchval("SELECT pg_backend_pid()") != connection.get_server_pid())


async def _version(connection: Any) -> tuple[int | None, int | None]:
    if await connection.fetchval("SELECT to_regclass('hanbeon.schema_version')") is None:
        return None, None
    row = await connection.fetchrow(statement("schema_version", Postgres))
    return (row["version"], row["runs_from"]) if row else (None, None)
