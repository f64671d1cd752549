"""PostgreSQL in a simulation: a server of each run, over files copied from a template."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hanbeon.app import App
from hanbeon.host import Host
from hanbeon.store import statements
from hanbeon.store.database.drivers import asyncpg
from hanbeon.store.dialect import Postgres
from hanbeon.surfaces.store_parts import migrate
from hanbeon.testing.simulation.executors import SimulatedExecutors
from hanbeon.testing.simulation.plan import FaultKind
from hanbeon.testing.simulation.postgres.driver import make_repeatable
from hanbeon.testing.simulation.postgres.proxy import Proxy
from hanbeon.testing.simulation.postgres.server_process import DATABASE, SOCKET, USER, Programs, copy_files
from hanbeon.testing.simulation.postgres.wire import PlainConnection, literal
from hanbeon.testing.simulation.world import World

KINDS = tuple(
    kind for kind in FaultKind if kind not in (FaultKind.POWER, FaultKind.FILL, FaultKind.RESTORE, FaultKind.RENEW)
)
"""The faults that are simulated. The others are those of a file and of its copies."""
_TEMPLATE = "template"
_CLOCK = "clock"
_PARAMETER = re.compile(r"\?")
_RECORDER = """
CREATE TABLE simulated_moves (
  rowid bigserial, at bigint, node text, seq bigint, old text, new text, old_fence bigint, fence bigint, lease bigint
);
CREATE FUNCTION simulated_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO simulated_moves (at, node, seq, old, new, old_fence, fence, lease) VALUES (
    hanbeon.now(), current_setting('application_name'), OLD.seq, OLD.state, NEW.state, OLD.fence, NEW.fence,
    OLD.locked_until);
  RETURN NULL;
END
$$;
CREATE TRIGGER simulated_recorder AFTER UPDATE OF state, fence ON hanbeon.job FOR EACH ROW
WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD.fence IS DISTINCT FROM NEW.fence)
EXECUTE FUNCTION simulated_record();
"""
"""The flight recorder: every move of a job, by which process, and what its lease was then."""


class PostgresStore:
    """Servers of one installation."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def prepare(self, folder: Path) -> None:
        folder.chmod(0o755)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            data, sockets = Path(made, "data"), Path(made)
            self._programs.give(sockets)
            self._programs.initialize(data)
            with self._programs.server(data, sockets, is_kept=True):
                PlainConnection(sockets / SOCKET, USER, "postgres").rows(f"CREATE DATABASE {DATABASE}")
                asyncio.run(_migrate(_url(sockets)))
                connection = PlainConnection(sockets / SOCKET, USER, DATABASE)
                connection.rows(_RECORDER)
            data.rename(folder / _TEMPLATE)

    def warm(self) -> None:
        statements.load(Postgres)
        asyncpg.connect  # noqa: B018 - reading it imports the driver

    @contextmanager
    def database(self, folder: Path, run: Path, world: World) -> Iterator[PostgresDatabase]:
        run.chmod(0o755)
        sockets = run / "sockets"
        sockets.mkdir()
        self._programs.give(sockets)
        copy_files(self._programs, folder / _TEMPLATE, run / "data")
        with self._programs.server(run / "data", sockets):
            yield PostgresDatabase(sockets, run / _CLOCK, world)


class PostgresDatabase:
    """The server of one run, by way of the proxy."""

    most_at_rest = 1_000
    """Pools keep what they have opened."""

    def __init__(self, sockets: Path, clock: Path, world: World) -> None:
        self.url = _url(sockets)
        self.host = Host(executors=SimulatedExecutors(world), watched=False)
        make_repeatable(world)
        self._own = PlainConnection(sockets / SOCKET, USER, DATABASE)
        self._own.rows(_seam(clock))
        world.network = Proxy(world, sockets / SOCKET, clock, PlainConnection(sockets / SOCKET, USER, DATABASE))

    def rows(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        given = iter(args)
        text = _PARAMETER.sub(lambda _: literal(next(given)), sql)
        return self._own.rows(text.replace("hanbeon_", "hanbeon."))


def _url(sockets: Path) -> str:
    return f"postgresql://{USER}@/{DATABASE}?host={sockets}&port=5432"


async def _migrate(url: str) -> None:
    await migrate(url)
    async with App(url):
        pass


def _seam(clock: Path) -> str:
    """Return what makes the database take its time from a file, which every statement reads when it comes to it."""
    return f"""
    CREATE OR REPLACE FUNCTION hanbeon.now() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$SELECT pg_catalog.pg_read_file('{clock}')::bigint$$
    """
