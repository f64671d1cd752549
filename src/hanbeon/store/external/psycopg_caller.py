"""psycopg 3, with whatever row factories, cursors and adapters its owner uses. Imported only once one was passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.rule import Rule
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
