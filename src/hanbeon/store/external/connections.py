"""Connections of psycopg and SQLAlchemy, passed as `transaction`: recognised by name, and never imported first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.database.drivers import asyncpg
from hanbeon.store.external.caller import Caller
from hanbeon.store.rows import Row, row_type


class _Psycopg:
    """The common part of both kinds of connection; see `Caller`."""

    cursor: str

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._cursor = _cursor_class(self.cursor)

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        raise NotImplementedError

    async def execute(self, sql: str) -> None:
        await self.fetch(sql)

    def is_in_transaction(self) -> bool:
        """Without autocommit, psycopg begins a transaction with the next statement."""
        status = self._connection.info.transaction_status.name
        return not self._connection.autocommit or status in ("INTRANS", "INERROR", "ACTIVE")

    def terminate(self) -> None:
        self._connection.pgconn.finish()


class AsyncPsycopgCaller(_Psycopg):
    """An AsyncConnection."""

    cursor = "AsyncRawCursor"

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        async with self._cursor(self._connection, row_factory=_rows) as cursor:
            await cursor.execute(sql, args or None)
            rows: Sequence[Any] = await cursor.fetchall() if cursor.description else []
            return rows


class PsycopgCaller(_Psycopg):
    """A Connection. Its coroutines never suspend, so they can be driven without an event loop."""

    cursor = "RawCursor"

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        with self._cursor(self._connection, row_factory=_rows) as cursor:
            cursor.execute(sql, args or None)
            rows: Sequence[Any] = cursor.fetchall() if cursor.description else []
            return rows


def _cursor_class(name: str) -> Any:
    try:
        return getattr(import_module("psycopg"), name)
    except AttributeError:
        raise InvalidInput(Rule("psycopg_too_old"), field="transaction") from None


def _rows(cursor: Any) -> Callable[[Sequence[Any]], Row]:
    return row_type(tuple(column.name for column in cursor.description or ()))


async def async_caller(connection: Any) -> Caller:
    """Return the driver's connection of an AsyncConnection, asyncpg's or psycopg's."""
    _check_driver(connection.dialect, "asyncpg", "psycopg")
    driver = (await connection.get_raw_connection()).driver_connection
    caller: Caller = driver if connection.dialect.driver == "asyncpg" else AsyncPsycopgCaller(driver)
    if not (connection.in_transaction() and caller.is_in_transaction()):
        # The first statement begins it for both SQLAlchemy and the driver, so that a later commit() applies to it.
        await connection.exec_driver_sql("SELECT 1")
    return caller


def sync_caller(connection: Any) -> Caller:
    """Return the driver's connection of a Connection: psycopg's."""
    _check_driver(connection.dialect, "psycopg")
    caller = PsycopgCaller(connection.connection.driver_connection)
    if not (connection.in_transaction() and caller.is_in_transaction()):
        connection.exec_driver_sql("SELECT 1")
    return caller


def _check_driver(dialect: Any, *drivers: str) -> None:
    if dialect.name != "postgresql" or dialect.driver not in drivers:
        known = " or ".join(f"postgresql+{driver}://" for driver in drivers)
        raise InvalidInput(
            Rule("driver_not_supported", known=known, dialect=dialect.name, driver=dialect.driver),
            field="transaction",
        )


_ASYNCHRONOUS = frozenset(
    {
        "asyncpg.Connection",
        "asyncpg.PoolConnectionProxy",
        "psycopg.AsyncConnection",
        "sqlalchemy.AsyncConnection",
        "sqlalchemy.AsyncSession",
        "sqlalchemy.async_scoped_session",
    }
)
_OF_DJANGO = frozenset({"django.ConnectionProxy", "django.BaseDatabaseWrapper"})
_SYNCHRONOUS = _OF_DJANGO | {
    "psycopg.Connection",
    "sqlalchemy.Connection",
    "sqlalchemy.Session",
    "sqlalchemy.scoped_session",
}


async def caller_of(transaction: Any) -> Caller:
    """Return the connection of an asynchronous object; raises for anything else, with a remedy."""
    match _kind(transaction):
        case "asyncpg.Connection" | "asyncpg.PoolConnectionProxy":
            caller: Caller = transaction
            return caller
        case "psycopg.AsyncConnection":
            return AsyncPsycopgCaller(transaction)
        case "sqlalchemy.AsyncConnection":
            return await async_caller(transaction)
        case "sqlalchemy.AsyncSession" | "sqlalchemy.async_scoped_session":
            return await async_caller(await transaction.connection())
        case kind if kind in _SYNCHRONOUS:
            raise InvalidInput(
                Rule("transaction_not_async", kind=kind),
                field="transaction",
            )
        case _:
            raise _unknown(transaction)


def sync_caller_of(transaction: Any) -> Caller:
    """Return the connection of a synchronous object; raises for anything else, with a remedy."""
    match _kind(transaction):
        case "psycopg.Connection":
            return PsycopgCaller(transaction)
        case "sqlalchemy.Connection":
            return sync_caller(transaction)
        case "sqlalchemy.Session" | "sqlalchemy.scoped_session":
            return sync_caller(transaction.connection())
        case kind if kind in _OF_DJANGO:
            return sync_caller_of(_driver_of(transaction))
        case kind if kind in _ASYNCHRONOUS:
            raise InvalidInput(
                Rule("transaction_not_sync", kind=kind),
                field="transaction",
            )
        case _:
            raise _unknown(transaction)


def _driver_of(connection: Any) -> Any:
    """Return the driver's connection of Django's, which opens it with its first statement."""
    connection.ensure_connection()
    return connection.connection


def _kind(transaction: Any) -> str:
    """Return its library and class, also for subclasses: `sqlalchemy.Session`. Nothing is imported for that."""
    names = [f"{each.__module__.partition('.')[0]}.{each.__name__}" for each in type(transaction).__mro__]
    return next((name for name in names if name in _ASYNCHRONOUS | _SYNCHRONOUS), names[0])


def _unknown(transaction: Any) -> InvalidInput:
    remedy = (
        "pass a connection of asyncpg or psycopg 3, a connection or session of SQLAlchemy over one of them, "
        "a connection of Django over psycopg 3, or "
    )
    if isinstance(transaction, asyncpg.Pool) or hasattr(transaction, "getconn"):
        remedy = "acquire a connection from the pool and begin a transaction on it, or pass "
    return InvalidInput(
        Rule("not_a_transaction", got=quoted(transaction), remedy=remedy),
        field="transaction",
    )
