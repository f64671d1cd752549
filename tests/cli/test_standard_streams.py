"""Standard streams that are closed, full or unread, with real processes."""

import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.hanbeon import SCRIPT, environment

_APP = """
from hanbeon import App
app = App("sqlite:///jobs.db", shutdown_grace=5)

@app.task
async def work() -> list[str]:
    import os
    # Descriptors of the database or of the event loop would be here if the worker had left these free.
    return [os.readlink(f"/proc/self/fd/{n}") for n in range(3)]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.py").write_text(_APP)
    assert _shell(tmp_path, "enqueue --app jobs:app work").returncode == 0
    return tmp_path


def _command(arguments: str) -> str:
    return f"exec {shlex.quote(SCRIPT)} {arguments}"


def _shell(folder: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command with redirections to its end."""
    return subprocess.run(
        _command(arguments),
        shell=True,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env=environment(),
    )


def test_output_that_cannot_be_written_is_one_line(folder: Path) -> None:
    for arguments in (
        "--help",
        "--version",
        "jobs --help",
        "jobs --database sqlite:///jobs.db",
        "verify --json --database sqlite:///jobs.db",
    ):
        done = _shell(folder, f"{arguments} > /dev/full")
        message = "error: the output could not be written: No space left on device\n"
        assert (done.returncode, done.stderr) == (74, message), arguments
    missing = _shell(folder, "job --json nothing --database sqlite:///jobs.db > /dev/full")
    assert missing.returncode == 2, "an error of its own comes first"
    assert _shell(folder, "jobs --database sqlite:///jobs.db 2> /dev/full").returncode == 0
    assert _shell(folder, "job nothing --database sqlite:///jobs.db 2> /dev/full").returncode == 2


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_command_with_closed_streams_does_its_work(folder: Path, closed: str) -> None:
    done = _shell(folder, f"jobs --database sqlite:///jobs.db {closed}")
    assert (done.returncode, done.stderr) == (0, "")
    assert ("work" in done.stdout) == (">&-" not in closed.split())


@pytest.mark.parametrize("streams", ["<&-", "<&- >&- 2>&-", "> /dev/full 2> /dev/full"])
def test_worker_without_streams_works_and_stops(folder: Path, streams: str) -> None:
    worker = subprocess.Popen(
        _command(f"worker --app jobs:app {streams}"),
        shell=True,
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        done = _shell(folder, "enqueue --app jobs:app --wait work")
        assert done.returncode == 0, done
        expected = "/dev/full" if "full" in streams else "/dev/null"
        assert done.stdout.count(expected) >= (2 if "full" in streams else 1), done
        assert "jobs.db" not in done.stdout
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=60) == 0
    finally:
        worker.kill()
        worker.wait()
