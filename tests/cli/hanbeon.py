"""Runs commands: the installed script in a process or, faster, the program in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hanbeon.cli.program import run_program
from tests.processes.fork_server import Program, start_program

SCRIPT = str(Path(sys.executable).with_name("hanbeon"))
EXAMPLES = Path(__file__).parents[2] / "examples"


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process: no HANBEON_ variables of this run, and a known terminal width."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HANBEON_")}
    return {**inherited, "COLUMNS": "120", "LINES": "40", "NO_COLOR": "1", "PYTHONWARNINGS": "default", **more}


def hanbeon_script(*arguments: str, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the installed script to its end."""
    return subprocess.run(
        [SCRIPT, *arguments], check=False, capture_output=True, text=True, timeout=300, cwd=cwd, env=environment(**more)
    )


def hanbeon(
    *arguments: str, cwd: Path | None = None, timeout: float = 300, **more: str
) -> subprocess.CompletedProcess[str]:
    """Like `hanbeon_script`, without the half second that its imports take."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start_forked(*arguments, env=environment(**more), cwd=cwd or Path.cwd(), **pipes) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def start_forked(*arguments: str, env: dict[str, str], cwd: Path | str, **pipes: Any) -> subprocess.Popen[str]:
    """Start a server or worker without waiting for its imports, where how it starts is not the point."""
    return start_program(Program("hanbeon", arguments, env, str(cwd), script=SCRIPT), **pipes)


def start(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start a command; end it with `kill`, or by leaving it as a context."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment(), **options}
    return subprocess.Popen([SCRIPT, *arguments], text=True, **pipes)


def unread(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose output pipe is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(
            [SCRIPT, *arguments],
            check=False,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            timeout=300,
        )
    finally:
        os.close(writing)


def hanbeon_inside(*arguments: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Like `hanbeon`, in this process and much quicker: for commands that import nothing from their folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name in [name for name in os.environ if name.startswith("HANBEON_")]:
            patch.delenv(name)
        for name, value in environment(**more).items():
            patch.setenv(name, value)
        answer = _call(arguments)
    return subprocess.CompletedProcess(arguments, answer.code, answer.out, answer.err)


class Answer(NamedTuple):
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout; asserts that there was no other output."""
        assert (self.code, self.err) == (0, ""), self
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        assert (self.code, self.err) == (0, ""), self
        return self.out.splitlines()


async def call(*arguments: str) -> Answer:
    """Run a command in this process, in an event loop of its own."""
    return await asyncio.to_thread(_call, arguments)


def _call(arguments: tuple[str, ...]) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_program(arguments)
    return Answer(code, out.getvalue(), err.getvalue())
