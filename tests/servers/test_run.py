"""What a run does with its servers: none before one is needed, one for all, a clear word if there is none."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

_ROOT = Path(__file__).parents[2]
_CONFTEST = 'pytest_plugins = ["tests.servers.run", "tests.servers.databases"]\n'
_SUITE = """
import os
import pytest
from tests.servers.run import SERVERS

def test_without(request):
    assert not list(request.config.stash[SERVERS].folder.glob("*.json"))

@pytest.mark.parametrize("turn", range(4))
def test_with(postgres_server, turn):
    with open(os.environ["SEEN"], "a") as seen:
        print(postgres_server.pid, file=seen)
"""


class Suite:
    """A small test suite of its own, run in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "conftest.py").write_text(_CONFTEST)
        (folder / "test_suite.py").write_text(_SUITE)

    def run(self, *arguments: str, **environment: str) -> str:
        """The last line of its output, such as `1 passed in 0.01s`."""
        # Without what says that we are a worker of pytest-xdist, or under CI.
        inherited = {
            name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST_")
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={self.folder}"]
        done = subprocess.run(
            [*command, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**inherited, "PYTHONPATH": str(_ROOT), "SEEN": str(self.folder / "seen"), **environment},
        )
        return done.stdout.strip().rsplit("\n", 1)[-1]

    def server_pids(self) -> list[int]:
        seen = self.folder / "seen"
        return [int(line) for line in seen.read_text().split()] if seen.exists() else []


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.usefixtures("postgres_installation")
def test_one_server_serves_the_whole_run_and_ends_with_it(suite: Suite, workers: str) -> None:
    assert suite.run("-n", workers, "-m", "postgres").startswith("4 passed")
    assert len(suite.server_pids()) == 4
    (pid,) = set(suite.server_pids())
    assert not psutil.pid_exists(pid)


def test_no_server_before_one_is_needed(suite: Suite) -> None:
    assert suite.run("-m", "not postgres").startswith("1 passed")
    assert suite.server_pids() == []


def test_a_missing_server_skips_on_a_laptop(suite: Suite) -> None:
    assert "1 passed, 4 skipped" in suite.run("--postgres=none")


def test_a_missing_server_fails_under_ci(suite: Suite) -> None:
    assert "4 errors" in suite.run("--postgres=none", CI="true")
