"""Servers of a test run: none before one is needed, one for all, a clear message if there is none."""

from pathlib import Path

import psutil
import pytest

from tests.suites import Suite

_SUITE = """
import os
import pytest
from tests.databases.run import SERVERS

def test_without(request):
    assert not list(request.config.stash[SERVERS].folder.glob("*.json"))

@pytest.mark.parametrize("turn", range(4))
def test_with(postgres_server, turn):
    with open(os.environ["SEEN"], "a") as seen:
        print(postgres_server.pid, file=seen)
"""


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path, ["tests.databases.run", "tests.databases.fixtures"], _SUITE)


def _server_pids(suite: Suite) -> list[int]:
    return [int(line) for line in suite.seen.read_text().split()] if suite.seen.exists() else []


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.slow), "2"])
@pytest.mark.usefixtures("postgres_installation")
def test_one_server_serves_the_whole_run_and_ends_with_it(suite: Suite, workers: str) -> None:
    assert suite.run("-n", workers, "-m", "postgres").last_line.startswith("4 passed")
    assert len(_server_pids(suite)) == 4
    (pid,) = set(_server_pids(suite))
    assert not psutil.pid_exists(pid)


def test_no_server_before_one_is_needed(suite: Suite) -> None:
    assert suite.run("-m", "not postgres").last_line.startswith("1 passed")
    assert _server_pids(suite) == []


def test_a_missing_server_skips_on_a_laptop(suite: Suite) -> None:
    assert "1 passed, 4 skipped" in suite.run("--postgres=none").last_line


def test_a_missing_server_fails_under_ci(suite: Suite) -> None:
    assert "4 errors" in suite.run("--postgres=none", CI="true").last_line
