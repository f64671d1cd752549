"""Transactions of the App for user code: for a task, whose success commits it, or for a caller's block."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from hanbeon.rule import Rule
from hanbeon.store.tx import AfterCommit, Tx

T = TypeVar("T")
ENDED = Rule("transaction_ended")
ENDED_BY_ITS_USER = Rule("transaction_ended_by_its_user")


class UserTransaction(Protocol):
    """An open transaction, in the database's own SQL and placeholders."""

    is_blocking: bool
    """True if nothing else can be written while this transaction lasts."""

    @property
    def connection(self) -> Any:
        """The driver's connection, for what this protocol does not offer. Do not commit or roll back on it."""
        ...

    async def execute(self, sql: str, *args: Any) -> None:
        """Run a statement and discard its rows."""
        ...

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        """Run a statement and return its rows, readable by position and by name."""
        ...

    async def finish(self, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, AfterCommit]:
        """Run the engine's operation last and commit: return its answer and the effects that follow the commit.

        If it raises, everything is rolled back.
        """
        ...

    async def abandon(self) -> None:
        """Roll back and release the connection. Harmless after `finish`."""
        ...


def is_blocking(transaction: UserTransaction | None) -> bool:
    """True if there is a transaction outside of which nothing can be written while it lasts."""
    return transaction is not None and transaction.is_blocking
