"""The servers that one test run shares: started by the first test that needs one, ended with the run.

Under pytest-xdist the workers share them, too: they find each other through a folder that the controller
makes, and the controller, which outlives them, is the owner.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.databases.installations import Installation, select
from tests.databases.postgres import PostgresServer


class ServerRun:
    """What the processes of one test run know of their servers."""

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
            server = PostgresServer.start(installation.bindir, owner=self.owner)
            state.write_text(server.dump())
            return server

    def stop(self) -> None:
        for state in self.folder.glob("*.json"):
            PostgresServer.load(state.read_text()).stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


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
