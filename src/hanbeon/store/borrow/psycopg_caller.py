"""psycopg 3, whatever rows, cursors and adapters its owner has chosen. Imported only once they have passed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from hanbeon.errors import InvalidInput
from hanbeon.store.rows import Row, row_type


class AsyncPsycopgCaller:
    """An AsyncConnection; see `Caller`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._cursor = _cursor_class("AsyncRawCursor")

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        async with self._cursor(self._connection, row_factory=_rows) as cursor:
            await cursor.execute(sql, args or None)
            rows: Sequence[Any] = await cursor.fetchall() if cursor.description else []
            return rows

    async def execute(self, sql: str) -> None:
        await self.fetch(sql)

    def is_in_transaction(self) -> bool:
        return _is_in_transaction(self._connection)

    def terminate(self) -> None:
        self._connection.pgconn.finish()


class PsycopgCaller:
    """A Connection; see `Caller`. Its coroutines never suspend, so they can be driven without an event loop."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._cursor = _cursor_class("RawCursor")

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        with self._cursor(self._connection, row_factory=_rows) as cursor:
            cursor.execute(sql, args or None)
            rows: Sequence[Any] = cursor.fetchall() if cursor.description else []
            return rows

    async def execute(self, sql: str) -> None:
        await self.fetch(sql)

    def is_in_transaction(self) -> bool:
        return _is_in_transaction(self._connection)

    def terminate(self) -> None:
        self._connection.pgconn.finish()


def _cursor_class(name: str) -> Any:
    try:
        return getattr(import_module("psycopg"), name)
    except AttributeError:
        raise InvalidInput("psycopg is older than 3.2; upgrade it", field="transaction") from None


def _is_in_transaction(connection: Any) -> bool:
    """Without autocommit, psycopg begins one by itself with the next statement."""
    return not connection.autocommit or connection.info.transaction_status.name in ("INTRANS", "INERROR", "ACTIVE")


def _rows(cursor: Any) -> Callable[[Sequence[Any]], Row]:
    return row_type(tuple(column.name for column in cursor.description or ()))
