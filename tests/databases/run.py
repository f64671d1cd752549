"""The servers that one test run shares: started by the first test that needs one, ended with the run.

Under pytest-xdist the workers share them, too: they find each other through a folder that the controller
makes, and the controller, which outlives them, is the owner.
"""

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.databases.installations import Installation, select
from tests.databases.memory import memory_folder
from tests.databases.postgres import PostgresServer


class ServerRun:
    """State that the processes of one test run share about their servers."""

    def __init__(self, folder: Path, owner: int, chosen: tuple[Installation, ...]) -> None:
        self.folder = folder
        self.owner = owner
        self.chosen = chosen

    def shared(self, installation: Installation) -> PostgresServer:
        """The run's one server of this installation."""
        with self._lock(installation.name):
            state = self.folder / f"{installation.name}.json"
            if state.exists():
                return PostgresServer.load(state.read_text())
            server = PostgresServer.start(installation.bindir, durable=False, owner=self.owner)
            state.write_text(server.dump())
            return server

    def migrated(self, installation: Installation) -> str:
        """The name of a database of that server that has our tables, to copy for each test."""
        server = self.shared(installation)
        with self._lock(f"{installation.name}.template"):
            made = self.folder / f"{installation.name}.template"
            if not made.exists():
                url = server.create_database()
                _migrate(url)
                made.write_text(urlsplit(url).path.removeprefix("/"))
            return made.read_text()

    def migrated_file(self) -> Path:
        """A SQLite file that has our tables, to copy for each test."""
        with self._lock("sqlite.template"):
            made = self.folder / "template.db"
            if not made.exists():
                _migrate(f"sqlite:///{made}")
            return made

    def stop(self) -> None:
        for state in self.folder.glob("*.json"):
            PostgresServer.load(state.read_text()).stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _migrate(url: str) -> None:
    from hanbeon.surfaces.store_parts import migrate  # It is slow to import, and most plugin tests have no database.

    # A thread of its own, because the caller may be inside a running event loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(migrate(url))).result()


SERVERS = pytest.StashKey[ServerRun]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--postgres",
        default=os.environ.get("HANBEON_TEST_POSTGRES", "newest"),
        metavar="WHICH",
        help="PostgreSQL servers to test with: newest (default), all, none, or majors such as 18,15",
    )


def pytest_configure(config: pytest.Config) -> None:
    try:
        chosen = select(config.getoption("--postgres"))
    except (LookupError, ValueError) as error:
        raise pytest.UsageError(f"--postgres: {error}") from error
    # No server of a run has TLS, and drivers would prepare it for each connection.
    os.environ.setdefault("PGSSLMODE", "disable")
    memory = memory_folder()
    if memory is not None:
        # Read by pytest when it makes the first `tmp_path`.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is None:
        folder, owner = tempfile.mkdtemp(prefix="hanbeon-run-"), os.getpid()
    else:
        folder, owner = worker["servers_folder"], worker["servers_owner"]
    config.stash[SERVERS] = ServerRun(Path(folder), owner, chosen)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    servers = node.config.stash[SERVERS]
    node.workerinput["servers_folder"] = str(servers.folder)
    node.workerinput["servers_owner"] = servers.owner


def pytest_unconfigure(config: pytest.Config) -> None:
    servers = config.stash.get(SERVERS, None)
    if servers is not None and servers.owner == os.getpid():
        servers.stop()
