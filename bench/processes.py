"""Runs programs in process groups of their own; none outlives the block that started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from bench.records import ROOT


class ProgramError(Exception):
    """A program of a measurement failed; the message is the last line of its output."""


def run(command: Sequence[str], environment: Mapping[str, str], timeout: float) -> str:
    """Run a program to its end and return its output; raise if it fails."""
    with _group(command, environment, subprocess.PIPE, subprocess.PIPE) as program:
        try:
            output, errors = program.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"not done after {timeout:.0f} s") from None
    if program.returncode != 0:
        raise ProgramError(_last_line(errors) or f"exit code {program.returncode}")
    return output


def report(module: str, environment: Mapping[str, str], timeout: float, *arguments: object) -> dict[str, Any]:
    """Run a module of the benchmarks, and return the JSON that it prints last."""
    output = run([sys.executable, "-m", module, *map(str, arguments)], environment, timeout)
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


@contextmanager
def group(commands: Sequence[Sequence[str]], environment: Mapping[str, str], log: Path) -> Iterator[ProcessGroup]:
    """Start several programs, and kill them at the end of the block."""
    with open(log, "w+") as lines:
        started: list[subprocess.Popen[str]] = []
        try:
            started.extend(_start(command, environment, lines, subprocess.STDOUT) for command in commands)
            yield ProcessGroup(started, log)
        finally:
            for program in started:
                _kill(program)


class ProcessGroup:
    """Programs that should run until they are killed."""

    def __init__(self, programs: list[subprocess.Popen[str]], log: Path) -> None:
        self._programs, self._log = programs, log

    @property
    def pids(self) -> list[int]:
        return [program.pid for program in self._programs]

    def check(self) -> None:
        """Raise if one of them has ended."""
        for program in self._programs:
            if program.poll() is not None:
                message = _last_line(self._log.read_text(errors="replace"))
                raise ProgramError(f"a worker ended with {program.returncode}: {message}")


@contextmanager
def _group(
    command: Sequence[str], environment: Mapping[str, str], stdout: int | IO[str], stderr: int | IO[str]
) -> Iterator[subprocess.Popen[str]]:
    program = _start(command, environment, stdout, stderr)
    try:
        yield program
    finally:
        _kill(program)
        for stream in (program.stdout, program.stderr):
            if stream is not None:
                stream.close()


def _start(
    command: Sequence[str], environment: Mapping[str, str], stdout: int | IO[str], stderr: int | IO[str]
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        text=True,
        start_new_session=True,
    )


def _kill(program: subprocess.Popen[str]) -> None:
    # The whole group: some workers fork. The group exists as long as one of its processes does, reaped or not.
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
