"""No process outlives its measurement."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from bench.marks import Marks
from bench.processes import ProgramError, group, run

_FORKS = "import os, time; print(os.fork(), flush=True); time.sleep(600)"


def test_a_failed_program_is_reported_by_its_last_line() -> None:
    with pytest.raises(ProgramError, match="no luck today"):
        run([sys.executable, "-c", "raise SystemExit('no luck today')"], {}, 60)


def test_a_program_that_takes_too_long_is_ended() -> None:
    with pytest.raises(ProgramError, match="not done after 0 s"):
        run([sys.executable, "-c", "import time; time.sleep(600)"], {}, 0.2)


def test_a_process_group_ends_with_its_forks(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with group([[sys.executable, "-c", _FORKS]], {}, log) as started:
        while log.read_text().count("\n") < 2:
            started.check()
            time.sleep(0.01)
        (child,) = [int(line) for line in log.read_text().split() if line != "0"]
        assert psutil.pid_exists(child)
    # It was killed, but only its parent could be waited for: a busy machine takes a moment to end it.
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)


def test_a_worker_that_ends_is_noticed(tmp_path: Path) -> None:
    marks = Marks(tmp_path)
    command = [sys.executable, "-c", "raise SystemExit('gone')"]
    with group([command], {}, tmp_path / "log") as started, pytest.raises(ProgramError, match="gone"):
        marks.wait(1, 60, started.check)
