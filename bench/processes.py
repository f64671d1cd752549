"""Programs in process groups of their own, none of which outlives the block that started it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from bench.records import ROOT


class ProgramError(Exception):
    """A program of a measurement failed; the message is the end of what it said."""


def run(command: Sequence[str], environment: Mapping[str, str], timeout: float) -> str:
    """What it prints, once it has ended well."""
    with _group(command, environment, subprocess.PIPE, subprocess.PIPE) as program:
        try:
            output, errors = program.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"not done after {timeout:.0f} s") from None
    if program.returncode != 0:
        raise ProgramError(_last_words(errors) or f"exit code {program.returncode}")
    return output


@contextmanager
def crew(commands: Sequence[Sequence[str]], environment: Mapping[str, str], log: Path) -> Iterator[Crew]:
    """Several at once, killed at the end of the block."""
    with open(log, "w+") as lines:
        started: list[subprocess.Popen[str]] = []
        try:
            started.extend(_start(command, environment, lines, subprocess.STDOUT) for command in commands)
            yield Crew(started, log)
        finally:
            for program in started:
                _kill(program)


class Crew:
    """Programs that should live until they are killed."""

    def __init__(self, programs: list[subprocess.Popen[str]], log: Path) -> None:
        self._programs, self._log = programs, log

    @property
    def pids(self) -> list[int]:
        return [program.pid for program in self._programs]

    def check(self) -> None:
        """Raises if one of them has ended."""
        for program in self._programs:
            if program.poll() is not None:
                said = _last_words(self._log.read_text(errors="replace"))
                raise ProgramError(f"a worker ended with {program.returncode}: {said}")


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
    # The whole group: some workers fork. It is there as long as one of its processes is, reaped or not.
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
