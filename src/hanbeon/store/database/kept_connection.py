"""A connection that is kept from one statement to the next: acquiring and releasing one costs more than a statement."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from hanbeon.store.database.drivers import asyncpg

# A connection that was idle for longer may have died silently: a firewall forgets it.
_IDLE_SECONDS = 30.0


class KeptConnection:
    """A connection of a pool for single statements, one at a time.

    It stays acquired while the pool has others: a caller that needs the last one gets this. After any error it is
    thrown away, because what became of its statement is unknown.
    """

    def __init__(self, pool: Any, connect_seconds: float) -> None:
        self._pool, self._connect_seconds = pool, connect_seconds
        self._connection: Any = None
        self._busy = False
        self._used_at = 0.0

    @property
    def is_busy(self) -> bool:
        """True while a statement is under way: another one must use the pool."""
        return self._busy

    async def fetch(self, sql: str, *args: Any) -> Sequence[Any]:
        """Run a statement as a transaction by itself, and return its rows."""
        clock = asyncio.get_running_loop().time
        self._busy = True
        try:
            if self._connection is not None and is_gone(self._connection):
                self._throw_away()
            elif self._connection is not None and clock() - self._used_at > _IDLE_SECONDS:
                await self._release()
            if self._connection is None:
                self._connection = await self._pool.acquire(timeout=self._connect_seconds)
            rows: Sequence[Any] = await self._connection.fetch(sql, *args)
            self._used_at = clock()
            if self._is_last:
                await self._release()
        except BaseException:
            self._throw_away()
            raise
        finally:
            self._busy = False
        return rows

    async def yield_last(self) -> None:
        """Release the connection if it is idle and the pool has no other to give."""
        if self._connection is not None and not self._busy and self._is_last:
            await self._release()

    async def close(self) -> None:
        if not self._busy:
            await self._release()

    @property
    def _is_last(self) -> bool:
        pool = self._pool
        return pool.get_size() >= pool.get_max_size() and not pool.get_idle_size()

    async def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._pool.release(connection)

    def _throw_away(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # The pool takes a connection back when that ends; its proxy then raises on every call.
            with contextlib.suppress(asyncpg.InterfaceError):
                connection.terminate()


def is_gone(connection: Any) -> bool:
    """True if the connection has ended. The pool reclaims a broken one, and its proxy then raises on every call."""
    try:
        return bool(connection.is_closed())
    except asyncpg.InterfaceError:
        return True
