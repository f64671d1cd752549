"""`hanbeon demo`: one release line by line, or a live view until Ctrl-C."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.cli.hanbeon import SCRIPT, environment, hanbeon


def test_one_release_succeeds_and_leaves_nothing(tmp_path: Path) -> None:
    done = hanbeon("demo", "--once", cwd=tmp_path, TMPDIR=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-3] == "1 release, 28 jobs: 28 succeeded, 0 failed, 0 cancelled"
    counts = re.match(r"(\d+) attempts, (\d+) of them retried \((\d+) after a timeout\)", lines[-2])
    assert counts is not None, lines[-2]
    attempts, retried, late = map(int, counts.groups())
    # Two by its script; on a slow machine more of them may be late.
    assert (attempts, retried >= 2, late >= 1) == (28 + retried, True, True)
    assert lines[-1].startswith(f"sound: 28 jobs, {attempts} attempts")
    assert sum(" succeeded " in line for line in lines[:-3]) == 28
    deploying = [line.split()[2] for line in lines if "Deploy to staging" in line]
    assert deploying[:5] == ["scheduled", "promoted", "claimed", "overdue", "retried"]
    assert deploying[-1] == "succeeded"
    assert list(tmp_path.glob("hanbeon-demo-*")) == []


@pytest.mark.slow
def test_without_a_terminal_the_demo_is_one_release(postgres_url: str) -> None:
    done = hanbeon("demo", "--database", postgres_url)
    assert done.returncode == 0
    assert "28 jobs: 28 succeeded" in done.stdout


def test_a_database_without_a_schema_is_refused(empty_postgres_url: str) -> None:
    assert hanbeon("demo", "--database", empty_postgres_url).returncode == 5


@pytest.mark.slow
def test_on_a_terminal_it_is_a_live_view_until_ctrl_c(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    demo = subprocess.Popen(
        [SCRIPT, "demo"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm-256color", TMPDIR=str(tmp_path)),
    )
    os.close(theirs)
    try:
        shown = _read_until(ours, re.compile(r"Design the API.*?running", re.DOTALL))
        assert all(part in shown for part in ("slots in use", "throughput", "last events", "release 1"))
        demo.send_signal(signal.SIGINT)
        shown = _read_until(ours, re.compile(r"1 release, 28 jobs: .* 0 failed"))
        assert demo.wait(30) == 0
    finally:
        demo.kill()
        demo.wait()
        os.close(ours)
    assert list(tmp_path.glob("hanbeon-demo-*")) == []


def _read_until(terminal: int, pattern: re.Pattern[str]) -> str:
    seen = b""
    while not pattern.search(seen.decode(errors="replace")):
        seen += os.read(terminal, 100_000)
    return seen.decode(errors="replace")
