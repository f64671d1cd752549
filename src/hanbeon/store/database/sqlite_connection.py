"""A connection to SQLite, as its thread uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from hanbeon.clock import Clock
from hanbeon.errors import DatabaseRestored, DatabaseUnavailable
from hanbeon.rule import Rule
from hanbeon.store.database.drivers import apsw
from hanbeon.store.database.sqlite_errors import BUSY_TIMEOUT_MS, bordered, check_unopened, keep_log
from hanbeon.store.database.sqlite_files import OpenFiles
from hanbeon.store.database.sqlite_thread import SqliteHost
from hanbeon.store.dialect import Sqlite
from hanbeon.store.rows import row_type
from hanbeon.store.statements import statement
from hanbeon.store.tx import FastSteps
from hanbeon.store.user_transaction import ENDED

T = TypeVar("T")


_PROGRESS_STEPS = 10_000
_BUSY_PAUSE_SECONDS = 0.05


class SqliteConnection:
    """One apsw connection and the one thread that uses it, so that waiting for a lock never blocks the event loop."""

    db: apsw.Connection
    files: OpenFiles

    def __init__(self, path: Path, clock: Clock, name: str, host: SqliteHost) -> None:
        self._path = path
        self._clock, self.host = clock, host
        self._now = 0
        self.incarnation: str | None = None
        self.fast: FastSteps | None = None
        self.ends_at: float | None = None
        """When the leases of others end that a long write keeps from being renewed (monotonic)."""
        self._given_up = False
        self._waits_until = 0.0
        self._thread = host.thread(f"hanbeon-sqlite-{name}")

    async def open(self) -> Self:
        """Open the file in its own thread, which also closes it if the caller is cancelled meanwhile."""
        try:
            await self.run(self._open)
        except BaseException:
            await self.close()
            raise
        return self

    def _open(self) -> None:
        check_unopened(self._path)
        self.db = self.host.connect(self._path)
        keep_log(self.db, on=True)
        self._set_up()
        self.files = OpenFiles(self._path, self.db)

    def _set_up(self) -> None:
        self.db.set_busy_timeout(BUSY_TIMEOUT_MS)
        if self.db.readonly("main"):
            # SQLite opens such a file anyway, and would fail only at the first write.
            raise apsw.ReadOnlyError("the file is read-only")
        # FULL: an acknowledged commit survives a power cut. WAL: readers and the writer do not wait for each other.
        self._use_wal()
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY"):
            self.db.execute(f"PRAGMA {pragma}").fetchall()
        self.db.create_scalar_function("hanbeon_now", lambda *_: self._now, 0)
        # The first read opens the write-ahead log: from here on all files of the database are known.
        self.db.execute("SELECT count(*) FROM sqlite_master").fetchall()

    def _use_wal(self) -> None:
        """Switch to WAL, with retries.

        When several connections open a new file at the same time, each holds a read lock and wants to write: SQLite
        rejects all but one immediately, whatever the busy timeout, to avoid a deadlock.
        """
        give_up_at = self.host.monotonic() + BUSY_TIMEOUT_MS / 1_000
        while True:
            try:
                self.db.execute("PRAGMA journal_mode = WAL").fetchall()
            except apsw.BusyError:
                if self.host.monotonic() > give_up_at:
                    raise
                self.host.sleep(0.005)
            else:
                return

    def check(self) -> None:
        """Raise unless this is the database that was opened: the same files, in the same incarnation."""
        self.files.check()
        if self.incarnation is not None and self.incarnation != self.read_incarnation():
            raise DatabaseRestored

    def check_time(self) -> None:
        """Raise if a long write has used up the time for which it extended the leases of others."""
        if self.ends_at is not None and self.host.monotonic() > self.ends_at:
            raise DatabaseUnavailable(Rule("write_too_long"))

    def read_incarnation(self) -> str:
        return str(self.db.execute(statement("incarnation", Sqlite)).fetchall()[0][0])

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        return await self._thread.run(bordered, function, *args)

    def records(self, sql: str, args: Sequence[Any]) -> list[Any]:
        """Return rows readable by column name only: enough for the engine's statements, at a third of the cost."""
        cursor, names = self._execute(sql, args)
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def _execute(self, sql: str, args: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
        # Read once per statement, as PostgreSQL's statements do.
        self.check_wanted()
        self._now = self._clock.now_us()
        cursor = self.db.execute(sql, args)
        try:
            return cursor, tuple(column[0] for column in cursor.get_description())
        except apsw.ExecutionCompleteError:
            return (), ()

    def rows(self, sql: str, args: Sequence[Any]) -> list[Any]:
        """Return rows readable by position and by name."""
        cursor, names = self._execute(sql, args)
        return list(map(row_type(names), cursor))

    def let_give_up(self) -> None:
        """Make it possible to end what it does by `give_up`; costs a little with every statement."""
        self.db.set_progress_handler(lambda: self._given_up, _PROGRESS_STEPS)
        self.db.set_busy_handler(self._wait)

    def _wait(self, tries: int) -> bool:
        """Wait for a lock as SQLite's own busy handler does, which cannot be interrupted; False: give up."""
        if tries == 0:
            self._waits_until = self.host.monotonic() + BUSY_TIMEOUT_MS / 1_000
        if self._given_up or self.host.monotonic() > self._waits_until:
            return False
        self.host.sleep(min(0.001 * (tries + 1), _BUSY_PAUSE_SECONDS))
        return True

    def give_up(self) -> None:
        """End the statement or wait that is under way, and let those that follow fail. What is open is rolled back."""
        self._given_up = True
        self.db.interrupt()  # For what makes no progress by steps, such as sorting.

    def check_wanted(self) -> None:
        """Raise if it was given up: for calls that began to wait before."""
        if self._given_up:
            raise DatabaseUnavailable(ENDED)

    def close(self) -> asyncio.Future[None]:
        """Close it after the calls that it has. It is closed even if the caller is cancelled."""
        return self._thread.close(partial(bordered, self._close))

    def _close(self) -> None:
        if hasattr(self, "files"):
            self.files.close()
        if hasattr(self, "db"):
            self.db.close()
