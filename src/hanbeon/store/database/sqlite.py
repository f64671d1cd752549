"""SQLite through apsw: one host, several processes, one writer at a time."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hanbeon.cleanup import to_the_end
from hanbeon.clock import MICROS, Clock
from hanbeon.errors import DatabaseUnavailable, TransactionTooLong
from hanbeon.rule import Rule
from hanbeon.store import schema
from hanbeon.store.database.drivers import apsw
from hanbeon.store.database.sqlite_connection import SqliteConnection
from hanbeon.store.database.sqlite_errors import savepoint
from hanbeon.store.database.sqlite_files import guard_file
from hanbeon.store.database.sqlite_thread import SqliteHost
from hanbeon.store.dialect import Sqlite, translate
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.lease import GRANT_MOST_US, grant_time, is_granted
from hanbeon.store.statements import statement
from hanbeon.store.tx import LONG_SECONDS, AfterCommit, FastSteps, Tx, drive
from hanbeon.store.tx_base import TxBase
from hanbeon.store.user_transaction import ENDED, ENDED_BY_ITS_USER

T = TypeVar("T")
_GRANT_SLACK = 0.1
_GRANT_TRIES = 20
LEAST_ROOM_BYTES = 262_144
USER_TRANSACTION_SECONDS = 5.0


class SqliteTx(TxBase):
    """A transaction whose statements never suspend; see `Tx`."""

    has_round_trips = False
    copy = None

    def __init__(self, connection: SqliteConnection, seconds: float = math.inf, *, writes: bool = False) -> None:
        super().__init__(seconds)
        self._connection, self.fast = connection, connection.fast if writes else None

    async def fetch(self, name: str, *args: Any) -> Sequence[Any]:
        self._connection.check_time()
        return self._connection.records(statement(name, Sqlite), args)


class SqliteDatabase:
    """The embedded store: a writer and a reader for the engine, further connections for user transactions."""

    dialect = Sqlite
    writes_if_damaged = False
    """A server keeps what it has acknowledged, whichever page is damaged; a file may not be readable at all."""

    def __init__(self, path: Path, clock: Clock, host: SqliteHost | None = None) -> None:
        self.path = path
        self._host = host or SqliteHost()
        # Connections for users are opened later, when the process may have changed its folder.
        self._file = path.absolute()
        self.clock = clock
        self._writer: SqliteConnection | None = None
        self._reader: SqliteConnection | None = None
        self.incarnation: str | None = None
        """The incarnation that was opened; unknown in a database that is opened only to be read."""
        self.fast: FastSteps | None = None
        self._guard = contextlib.ExitStack()

    def twin(self) -> SqliteDatabase:
        """Return the same database, to be opened on another event loop, with connections of its own."""
        return SqliteDatabase(self._file, self.clock, self._host)

    async def open(self) -> None:
        """Open or create the file and bring its schema up to date."""
        if not self.path.parent.is_dir():
            raise DatabaseUnavailable(Rule("no_sqlite_folder", path=self.path.parent))
        self._guard.enter_context(guard_file(self.path))
        try:
            self._writer = await self._connection("writer").open()
            await self._writer.run(_migrate, self._writer)
            self._writer.files.warn_if_readable()
            self._reader = await self._connection("reader").open()
            self.incarnation = await self._reader.run(self._reader.read_incarnation)
            self._reader.incarnation = self.incarnation
            self._writer.incarnation, self._writer.fast = self.incarnation, self.fast
        except BaseException:
            await self.close()
            raise

    async def open_to_read(self) -> None:
        """Open an existing file for `read` only: its schema is not migrated, and writers are not waited for."""
        if not self.path.exists():
            raise DatabaseUnavailable(Rule("no_sqlite_file", path=self.path))
        self._guard.enter_context(guard_file(self.path))
        try:
            self._reader = await self._connection("reader").open()
        except BaseException:
            await self.close()
            raise

    def _connection(self, name: str) -> SqliteConnection:
        return SqliteConnection(self._file, self.clock, name, self._host)

    async def close(self) -> None:
        connections, self._reader, self._writer = (self._reader, self._writer), None, None
        await to_the_end(self._close([opened.close() for opened in connections if opened is not None]))

    async def _close(self, connections: list[asyncio.Future[None]]) -> None:
        try:
            for closed in connections:
                await closed
        finally:
            self._guard.close()  # Not before: another library might open the file beside them.

    async def transact(self, operation: Callable[[Tx], Awaitable[T]], seconds: float = 0.0) -> tuple[T, AfterCommit]:
        """Run the operation in a write transaction; return its answer and the effects that follow the commit.

        `seconds`: how long it may take. While it lasts nobody else can write, and no lease can be renewed.
        """
        writer = _opened(self._writer)
        if seconds >= LONG_SECONDS:
            return await writer.run(_transact_long, writer, operation, min(seconds, GRANT_MOST_US / MICROS))
        return await writer.run(_transact, writer, operation, seconds)

    async def read(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Run the operation on one consistent view, without a write lock."""
        reader = _opened(self._reader)
        return await reader.run(_read, reader, operation)

    async def look(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Like `read`, for a single small statement; SQLite has no cheaper way."""
        return await self.read(operation)

    async def responds(self, seconds: float) -> bool:
        """True: a file always responds, and a lock has its own time limit."""
        return True

    async def check_room(self) -> None:
        """Raise DatabaseUnavailable if the disk is full. A small write may still succeed then, in the room of a WAL."""
        disk = await asyncio.to_thread(os.statvfs, self.path.parent)
        left = disk.f_bavail * disk.f_frsize
        if left < LEAST_ROOM_BYTES:
            raise DatabaseUnavailable(Rule("disk_full", path=self.path, left=left))

    async def begin(self) -> SqliteUserTransaction:
        writer = _opened(self._writer)
        writer.files.check_identity()
        connection = await self._connection("user").open()
        connection.let_give_up()
        connection.incarnation, connection.fast = self.incarnation, self.fast
        connection.files.expect(writer.files)  # If it opened another file, that is noticed like a replaced one.
        transaction = SqliteUserTransaction(self, connection)
        await transaction.begin()
        return transaction


class SqliteUserTransaction:
    """A user's write transaction. It holds the file's only write lock, so it may last at most 5 seconds."""

    is_blocking = True

    def __init__(self, database: SqliteDatabase, connection: SqliteConnection) -> None:
        self.database = database
        self.lanes: LaneCache | None = None
        """The known lanes with those created inside it, if any were."""
        self._after = AfterCommit()
        self._connection: SqliteConnection | None = connection
        self._too_long = self._is_finishing = False
        self._timer: asyncio.TimerHandle | None = None

    async def begin(self) -> None:
        connection = self._open()
        try:
            await connection.run(connection.db.execute, "BEGIN IMMEDIATE")
        except BaseException:
            await self.abandon()
            raise
        self._timer = asyncio.get_running_loop().call_later(USER_TRANSACTION_SECONDS, self._expire)

    @property
    def connection(self) -> apsw.Connection:
        return self._open().db

    async def execute(self, sql: str, *args: Any) -> None:
        await self.fetch(sql, *args)

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        connection = self._open()
        try:
            return await connection.run(connection.rows, sql, args)
        except DatabaseUnavailable:
            self._open()  # If it was interrupted because it took too long, raise that instead.
            raise

    async def within(self, operation: Callable[[Tx], Awaitable[T]]) -> T:
        """Run the engine's operation inside it; if it raises, only that part is rolled back."""
        connection = self._open()
        try:
            answer: T
            answer, after = await connection.run(_within, connection, operation)
        except DatabaseUnavailable:
            self._open()
            raise
        self._after.add(after)
        return answer

    async def finish(self, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, AfterCommit]:
        connection = self._open()
        try:
            answer: T
            answer, after = await connection.run(self._finish, connection, operation)
            self._after.add(after)
            return answer, self._after
        except DatabaseUnavailable:
            self._open()
            raise
        finally:
            await self.abandon()

    def _finish(self, connection: SqliteConnection, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, AfterCommit]:
        # The limit is for its user: it holds until the last statement of theirs is over, and not for the engine's.
        self._is_finishing = True
        connection.check_wanted()
        if not connection.db.in_transaction:
            raise DatabaseUnavailable(ENDED_BY_ITS_USER)
        return _finish(connection, operation)

    async def abandon(self) -> None:
        if (closed := self._let_go()) is not None:
            await closed

    def _let_go(self) -> asyncio.Future[None] | None:
        if self._timer is not None:
            self._timer.cancel()
        connection, self._connection = self._connection, None
        if connection is None:
            return None
        # First, or closing would wait for as long as the statement takes, with the write lock.
        connection.give_up()
        return connection.close()  # Closing an apsw connection rolls its transaction back.

    def _open(self) -> SqliteConnection:
        if self._too_long:
            raise TransactionTooLong(Rule("transaction_too_long", seconds=f"{USER_TRANSACTION_SECONDS:g}"))
        if self._connection is None:
            raise DatabaseUnavailable(ENDED)
        return self._connection

    def _expire(self) -> None:
        if self._is_finishing:
            return
        self._too_long = True
        self._let_go()


def _opened(connection: SqliteConnection | None) -> SqliteConnection:
    if connection is None:
        raise DatabaseUnavailable(Rule("database_closed"))
    return connection


def _transact(
    connection: SqliteConnection, operation: Callable[[Tx], Awaitable[T]], seconds: float
) -> tuple[T, AfterCommit]:
    connection.db.execute("BEGIN IMMEDIATE")
    try:
        connection.check()
        return _finish(connection, operation, seconds)
    except BaseException:
        if connection.db.in_transaction:
            connection.db.execute("ROLLBACK")
        raise


def _transact_long(
    connection: SqliteConnection, operation: Callable[[Tx], Awaitable[T]], seconds: float
) -> tuple[T, AfterCommit]:
    """Extend all leases in a transaction of its own, then run the operation in one that ends before they do.

    Their holders cannot renew them, but read that they last longer. A crash in between leaves only longer leases.
    """
    granted, needed = round(seconds * MICROS), round(seconds * MICROS * (1 - _GRANT_SLACK))

    async def run(tx: Tx) -> T:
        if not await is_granted(tx, needed):
            raise _NotGranted  # Claimed since.
        return await operation(tx)

    for _ in range(_GRANT_TRIES):
        began_at = connection.host.monotonic()
        _transact(connection, lambda tx: grant_time(tx, granted), 0)
        connection.ends_at = began_at + seconds * (1 - 2 * _GRANT_SLACK)
        try:
            return _transact(connection, run, math.inf if seconds >= GRANT_MOST_US / MICROS else seconds)
        except _NotGranted:
            continue
        finally:
            connection.ends_at = None
    raise DatabaseUnavailable(Rule("claims_outrun_write"))


class _NotGranted(Exception):
    """A lease would end during a long write."""


def _finish(
    connection: SqliteConnection, operation: Callable[[Tx], Awaitable[T]], seconds: float = math.inf
) -> tuple[T, AfterCommit]:
    tx = SqliteTx(connection, seconds, writes=True)
    answer: T = drive(operation(tx))
    drive(tx.write_events())
    connection.check_time()
    connection.db.execute("COMMIT")
    # After the commit: only then is it certain that the commit went into the files that a restart will find.
    connection.files.check()
    return answer, tx.after


def _within(connection: SqliteConnection, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, AfterCommit]:
    """Run the operation inside an open transaction, all of it or nothing."""
    connection.check()
    tx = SqliteTx(connection, writes=True)
    if not connection.db.in_transaction:
        raise DatabaseUnavailable(ENDED_BY_ITS_USER)
    with savepoint(connection.db):
        answer: T = drive(operation(tx))
        drive(tx.write_events())
    return answer, tx.after


def _read(connection: SqliteConnection, operation: Callable[[Tx], Awaitable[T]]) -> T:
    connection.db.execute("BEGIN")
    try:
        connection.check()
        answer: T = drive(operation(SqliteTx(connection)))
        return answer
    finally:
        if connection.db.in_transaction:  # Some errors, such as a full disk, have rolled it back.
            connection.db.execute("ROLLBACK")


def _migrate(connection: SqliteConnection) -> None:
    connection.db.execute("BEGIN IMMEDIATE")
    try:
        connection.rows(translate(schema.CREATE_VERSION_TABLE, Sqlite), ())
        found = connection.rows(statement("schema_version", Sqlite), ())
        for migration in schema.pending(found[0]["version"] if found else 0):
            connection.rows(schema.script(migration, Sqlite), ())
            connection.rows(translate(schema.WRITE_VERSION, Sqlite), (migration.version, migration.runs_from))
        row = connection.rows(statement("schema_version", Sqlite), ())[0]
        schema.check(row["version"], row["runs_from"])
        connection.db.execute("COMMIT")
    except BaseException:
        if connection.db.in_transaction:
            connection.db.execute("ROLLBACK")
        raise
