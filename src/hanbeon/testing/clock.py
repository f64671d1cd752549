"""A virtual clock for tests: it stands still until it is advanced, and the database's clock with it."""

from __future__ import annotations

from hanbeon.clock import MICROS, micros
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.store import Store

START_US = 1_700_000_000 * MICROS

_TABLE = """
CREATE TABLE IF NOT EXISTS hanbeon.test_clock (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  now_us bigint NOT NULL
)
"""
_SET = """
INSERT INTO hanbeon.test_clock (only_row, now_us) VALUES (1, $1)
ON CONFLICT (only_row) DO UPDATE SET now_us = excluded.now_us
"""
_SEAM = """
CREATE OR REPLACE FUNCTION hanbeon.now() RETURNS bigint LANGUAGE sql VOLATILE
AS 'SELECT now_us FROM hanbeon.test_clock'
"""


class VirtualClock:
    """One clock for a test, its instances and its database; leases, delays and deadlines pass without waiting.

    Give it to `open_store` (or the App), open that, and `attach` it. On SQLite it is the database's clock by then; on
    PostgreSQL attaching replaces the database's own, for everybody who uses that database and for good: take a
    database of the test's own.
    """

    def __init__(self, start_us: int = START_US) -> None:
        self._now_us = start_us
        self._monotonic = 0.0
        self._databases: list[PostgresDatabase] = []

    def now_us(self) -> int:
        """The instant, in microseconds since 1970 UTC."""
        return self._now_us

    def monotonic(self) -> float:
        """Seconds advanced since the clock was made."""
        return self._monotonic

    async def attach(self, store: Store) -> None:
        """Make the store's database take its time from this clock."""
        database = store.database
        if not isinstance(database, PostgresDatabase):
            if database.clock is not self:
                raise ValueError("a SQLite store takes its clock when it is opened: open_store(url, clock)")
            return
        async with database.connection() as connection, connection.transaction():
            await connection.execute(_TABLE)
            await connection.execute(_SET, self._now_us)
            await connection.execute(_SEAM)
        if database not in self._databases:
            self._databases.append(database)

    async def advance(self, seconds: float) -> None:
        """Let time pass, here and in every attached database."""
        if seconds < 0:
            raise ValueError("time only passes forward; step() moves the wall clock alone")
        self._monotonic += seconds
        await self.step(seconds)

    async def step(self, seconds: float) -> None:
        """Set the wall clock forward or back, as an administrator would; the monotonic clock does not notice."""
        self._now_us += micros(seconds)
        # A closed database stays behind until it is attached again.
        self._databases = [database for database in self._databases if database.is_open]
        for database in self._databases:
            async with database.connection() as connection:
                await connection.execute(_SET, self._now_us)
