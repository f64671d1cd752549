"""Find the connection of an object passed as `transaction`. Foreign libraries are recognised by name only."""

from __future__ import annotations

from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.database.drivers import asyncpg
from hanbeon.store.external import sqlalchemy_caller
from hanbeon.store.external.caller import Caller
from hanbeon.store.external.psycopg_caller import AsyncPsycopgCaller, PsycopgCaller

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
_SYNCHRONOUS = frozenset(
    {"psycopg.Connection", "sqlalchemy.Connection", "sqlalchemy.Session", "sqlalchemy.scoped_session"}
)


async def caller_of(transaction: Any) -> Caller:
    """Return the connection of an asynchronous object; raises for anything else, with a remedy."""
    match _kind(transaction):
        case "asyncpg.Connection" | "asyncpg.PoolConnectionProxy":
            caller: Caller = transaction
            return caller
        case "psycopg.AsyncConnection":
            return AsyncPsycopgCaller(transaction)
        case "sqlalchemy.AsyncConnection":
            return await sqlalchemy_caller.async_caller(transaction)
        case "sqlalchemy.AsyncSession" | "sqlalchemy.async_scoped_session":
            return await sqlalchemy_caller.async_caller(await transaction.connection())
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
            return sqlalchemy_caller.sync_caller(transaction)
        case "sqlalchemy.Session" | "sqlalchemy.scoped_session":
            return sqlalchemy_caller.sync_caller(transaction.connection())
        case kind if kind in _ASYNCHRONOUS:
            raise InvalidInput(
                Rule("transaction_not_sync", kind=kind),
                field="transaction",
            )
        case _:
            raise _unknown(transaction)


def _kind(transaction: Any) -> str:
    """Return its library and class, also for subclasses: `sqlalchemy.Session`. Nothing is imported for that."""
    names = [f"{each.__module__.partition('.')[0]}.{each.__name__}" for each in type(transaction).__mro__]
    return next((name for name in names if name in _ASYNCHRONOUS | _SYNCHRONOUS), names[0])


def _unknown(transaction: Any) -> InvalidInput:
    remedy = "pass a connection of asyncpg or psycopg 3, a connection or session of SQLAlchemy over one of them, or "
    if isinstance(transaction, asyncpg.Pool) or hasattr(transaction, "getconn"):
        remedy = "acquire a connection from the pool and begin a transaction on it, or pass "
    return InvalidInput(
        Rule("not_a_transaction", got=quoted(transaction), remedy=remedy),
        field="transaction",
    )
