"""SQLite in a simulation: a file of each run."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from hanbeon.app import App
from hanbeon.host import Host
from hanbeon.store import statements
from hanbeon.store.dialect import Sqlite
from hanbeon.testing.simulation.connection import SimulatedHost
from hanbeon.testing.simulation.executors import SimulatedExecutors
from hanbeon.testing.simulation.wake_ups import SimulatedNotifier
from hanbeon.testing.simulation.world import World

_TEMPLATE = "template.db"
RECORDER = """
CREATE TABLE simulated_moves (
  at INTEGER, node TEXT, seq INTEGER, old TEXT, new TEXT, old_fence INTEGER, fence INTEGER, lease INTEGER
);
CREATE TRIGGER simulated_recorder AFTER UPDATE OF state, fence ON hanbeon_job
WHEN OLD.state IS NOT NEW.state OR OLD.fence IS NOT NEW.fence
BEGIN
  INSERT INTO simulated_moves
  VALUES (hanbeon_now(), simulated_node(), OLD.seq, OLD.state, NEW.state, OLD.fence, NEW.fence, OLD.locked_until);
END
"""
"""The flight recorder: every move of a job, by which process, and what its lease was then."""


class SqliteStore:
    """Files, with the threads of their connections simulated."""

    def prepare(self, folder: Path) -> None:
        async def make() -> None:
            async with App(f"sqlite:///{folder / _TEMPLATE}"):
                pass

        asyncio.run(make())
        db = apsw.Connection(str(folder / _TEMPLATE))
        db.execute(RECORDER)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        db.close()

    def warm(self) -> None:
        statements.load(Sqlite)

    @contextmanager
    def database(self, folder: Path, run: Path, world: World) -> Iterator[SqliteFile]:
        file = run / "jobs.db"
        shutil.copy(folder / _TEMPLATE, file)
        yield SqliteFile(file, world)


class SqliteFile:
    """The file of one run."""

    most_at_rest = 2
    """A writer and a reader."""

    def __init__(self, file: Path, world: World) -> None:
        self._file = str(file)
        self.url = f"sqlite:///{file}"
        self.host = Host(SimulatedHost(world), SimulatedNotifier, SimulatedExecutors(world), watched=False)

    def rows(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        db = apsw.Connection(self._file, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(db.execute(sql, args))
        finally:
            db.close()
