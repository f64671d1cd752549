"""The transaction a task may write through: its writes commit if and only if the job's success does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from hanbeon.store.tx import Tx

T = TypeVar("T")


class LentTransaction(Protocol):
    """An open transaction lent to a task, in the database's own SQL and placeholders."""

    @property
    def connection(self) -> Any:
        """The driver's connection, for what this protocol does not offer. Do not commit or roll back on it."""
        ...

    async def execute(self, sql: str, *args: Any) -> None:
        """Run a statement and drop its rows."""
        ...

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        """Run a statement; its rows, readable by position and by name."""
        ...

    async def finish(self, operation: Callable[[Tx], Awaitable[T]]) -> tuple[T, set[str]]:
        """Run the engine's operation as the last of the transaction and commit: its answer and the hints for waking.

        If it raises, everything is rolled back.
        """
        ...

    async def abandon(self) -> None:
        """Roll back and give the connection up. Harmless after `finish`."""
        ...
