"""The processes of tests end with their tests, whatever was done to them, and their output is kept."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from tests.processes.fork_server import ROOT
from tests.processes.process import PATIENCE
from tests.storm.fleet import WorkerProcess, worker_processes


def test_a_worker_gets_ready_and_stops_cleanly(sqlite_url: str) -> None:
    with worker_processes(1, sqlite_url, workers=2) as (worker,):
        assert worker.alive
        worker.stop()
        assert worker.output.count("worker_stopped") == 2


def test_a_frozen_worker_ends_with_its_block(sqlite_url: str) -> None:
    with WorkerProcess.start(sqlite_url) as worker:
        worker.wait_ready()
        worker.freeze()
    assert not worker.alive


def test_a_worker_that_cannot_start_says_why() -> None:
    with WorkerProcess.start("nowhere://") as worker:
        with pytest.raises(AssertionError, match=r"must be sqlite:///jobs\.db or postgresql"):
            worker.wait_ready()
        assert worker.wait() == 1


def test_a_worker_ends_with_a_killed_owner(sqlite_url: str) -> None:
    program = (
        "import sys; from tests.storm.fleet import WorkerProcess;"
        "worker = WorkerProcess.start(sys.argv[1]).wait_ready();"
        "print(worker.pid, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, sqlite_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as owner:
        assert owner.stdout is not None
        worker = psutil.Process(int(owner.stdout.readline()))
        owner.kill()
    worker.wait(PATIENCE)
    assert not worker.is_running()
