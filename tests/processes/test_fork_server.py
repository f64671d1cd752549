"""A fork is to a test what a new process would be."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import fork_server
from tests.processes.fork_server import ROOT, Fork, Program, start_program

_MODULE = "tests.processes.portrait"
_PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no forks here, but processes")


def _portrait(program: Program) -> tuple[int, object, str]:
    with start_program(program, **_PIPES) as process:
        out, err = process.communicate("한번\n", timeout=60)
    return process.returncode, json.loads(out), err


def test_a_fork_begins_like_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "default", "HANBEON_LEASE": "7"}
    program = Program(_MODULE, ["3", "두 번"], environment, str(ROOT), new_session=True)
    with start_program(program, **_PIPES) as process:
        assert isinstance(process, Fork)
        process.kill()
    forked = _portrait(program)
    monkeypatch.setattr(fork_server, "_IS_AVAILABLE", False)
    assert forked[:2] == _portrait(program)[:2]
    assert forked[0] == 3


def test_forks_share_no_chance() -> None:
    program = Program(_MODULE, ["0"], dict(os.environ), str(ROOT))
    assert _portrait(program)[2] != _portrait(program)[2]


def test_an_interpreter_of_another_kind_is_a_process_of_its_own(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with start_program(Program(_MODULE, ["0"], environment, str(ROOT)), **_PIPES) as process:
        assert not isinstance(process, Fork)
        process.kill()


def test_the_end_of_a_fork_is_known_like_a_childs() -> None:
    program = Program("tests.processes.main", ["[]"], dict(os.environ), str(ROOT))
    with start_program(program, **_PIPES) as process:
        process.kill()
        assert process.wait(60) == -9
        assert process.poll() == -9


def test_forks_end_with_a_killed_owner(tmp_path: Path) -> None:
    """`http.server` reads no standard input: nothing tells it that its test is gone."""
    started = tmp_path / "started"
    program = Program("http.server", ["0"], dict(os.environ), str(tmp_path))
    code = (
        "import pathlib, sys, time\n"
        "from tests.processes.fork_server import Program, start_program\n"
        f"fork = start_program(Program(*{list(program)[:4]!r}))\n"
        f"pathlib.Path({str(started)!r}).write_text(str(fork.pid))\n"
        "time.sleep(600)"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment) as owner:
        while not (started.exists() and started.read_text()):
            assert owner.poll() is None
            time.sleep(0.02)
        end = os.pidfd_open(int(started.read_text()))
        owner.kill()
    try:
        assert select.select([end], [], [], 60)[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(end, signal.SIGKILL)
        os.close(end)
