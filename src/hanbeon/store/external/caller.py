"""The interface of a caller's connection, and the rules for working inside its transaction."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from hanbeon.errors import (
    DatabaseUnavailable,
    HanbeonError,
    InvalidInput,
    NotInTransaction,
    SchemaMissing,
    TransactionUndone,
)
from hanbeon.rule import Rule
from hanbeon.store.database.postgres import CHANNEL, IDENTITY, NOTIFY, PostgresTx
from hanbeon.store.tx import Tx

T = TypeVar("T")

_REMEDIES: dict[str, tuple[Callable[[str], HanbeonError], str]] = {
    "25P01": (NotInTransaction, "begin one first"),
    "25P02": (TransactionUndone, "an earlier statement of your transaction failed; roll it back"),
    "25006": (InvalidInput, "your transaction may only read; begin one that may write"),
    "40001": (TransactionUndone, "others changed what yours needs; roll it back and run it again"),
    "40P01": (TransactionUndone, "it and others waited for each other; roll it back and run it again"),
    "55P03": (TransactionUndone, "your lock_timeout ended it; run it again"),
    "57014": (TransactionUndone, "your statement_timeout ended it, or it was cancelled; run it again"),
    "3F000": (SchemaMissing, "your connection's database has no Hanbeon tables; use the App's database"),
    "42P01": (SchemaMissing, "your connection's database has no Hanbeon tables; use the App's database"),
    "42883": (SchemaMissing, "your connection's database has no Hanbeon tables; use the App's database"),
    "42703": (SchemaMissing, "your connection's database has other Hanbeon tables; use the App's database"),
    "42501": (DatabaseUnavailable, "grant the role of your connection what docs/operations.md lists"),
}
_DRIVERS = ("asyncpg", "psycopg")


class Caller(Protocol):
    """A connection on which the caller has begun a transaction. asyncpg's own conforms; the others get an adapter."""

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]: ...

    async def execute(self, sql: str) -> Any: ...

    def is_in_transaction(self) -> bool: ...

    def terminate(self) -> None: ...


async def identify(caller: Caller) -> str:
    """Identify the database and the running server. Nothing is written."""
    if not caller.is_in_transaction():
        raise NotInTransaction(Rule("not_in_transaction"))
    with _border():
        return str((await caller.fetch(IDENTITY))[0][0])


async def within(caller: Caller, operation: Callable[[Tx], Awaitable[T]]) -> T:
    """Run the operation inside the caller's transaction: all of it, or nothing while the transaction stays usable.

    The transaction's settings and its end are left to the caller. Listeners are notified at its commit.
    """
    with _border():
        async with _savepoint(caller):
            tx = PostgresTx(caller)
            answer = await operation(tx)
            await tx.write_events()
            if tx.after.hints:
                await caller.fetch(NOTIFY, CHANNEL, " ".join(sorted(tx.after.hints)))
            return answer


@contextlib.asynccontextmanager
async def _savepoint(caller: Caller) -> AsyncIterator[None]:
    await caller.execute("SAVEPOINT hanbeon")
    try:
        yield
        await caller.execute("RELEASE SAVEPOINT hanbeon")
    except BaseException:
        try:
            await caller.execute("ROLLBACK TO SAVEPOINT hanbeon")
            await caller.execute("RELEASE SAVEPOINT hanbeon")
        except BaseException:
            # Half a batch may be written, and the caller must not be able to commit it.
            caller.terminate()
        raise


@contextlib.contextmanager
def _border() -> Any:
    """Translate the errors of the callers' drivers, by what they share: the SQLSTATE, or a broken connection."""
    try:
        yield
    except HanbeonError:
        raise
    except Exception as error:
        code = getattr(error, "sqlstate", None)
        if code in _REMEDIES:
            kind, remedy = _REMEDIES[code]
            raise kind(f"PostgreSQL says {_first_line(error)!r}: {remedy}") from error
        if isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _DRIVERS:
            raise DatabaseUnavailable(Rule("caller_connection", error=_first_line(error))) from error
        raise


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
