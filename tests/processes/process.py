"""A Python program of tests in a process of its own: told, heard, signalled and always reaped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
READY = "ready"


class Process:
    """One `python -m module …`, leader of a session of its own. Ends with its `with` block, or by `end()`.

    A program that calls `end_with_the_owner` also ends by itself when whoever started it is gone.
    """

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        self.name = f"{module.rpartition('.')[2]} {self.pid}"
        self._lines: list[str] = []
        self._told = threading.Condition()
        self._silent = False
        self._reader = threading.Thread(target=self._read, name=f"output of {self.name}", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    # What it says and is told

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        """Everything it has printed so far, errors included."""
        with self._told:
            return "\n".join(self._lines)

    def wait_ready(self, timeout: float = PATIENCE) -> Self:
        """Until it says that it is ready for what the test wants of it."""
        self.wait_for(lambda line: line == READY, READY, timeout)
        return self

    def wait_for(self, fits: Callable[[str], bool], what: str, timeout: float = PATIENCE) -> str:
        """The first line that fits; an error with all its output if it ends before, or is silent for too long."""
        seen, until = 0, time.monotonic() + timeout
        with self._told:
            while True:
                for line in self._lines[seen:]:
                    if fits(line):
                        return line
                seen = len(self._lines)
                if self._silent or not self._told.wait(until - time.monotonic()):
                    break
        raise AssertionError(f"{self.name} never said {what!r}; it said:\n{self.output}")

    def say(self, line: str) -> None:
        """Write a line to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    # What is done to it

    def kill(self) -> None:
        """SIGKILL to it and whatever it started in its session: no goodbye, nothing handed back."""
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """SIGSTOP: it holds what it holds and does nothing, until `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        """SIGTERM to it alone: a worker lets what it runs finish and hands the rest back."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Until it has ended; its exit code, negative for a signal."""
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} has not ended within {timeout} s; it said:\n{self.output}") from None
        self._reader.join(PATIENCE)
        return code

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self, timeout: float = PATIENCE) -> None:
        """A clean end: SIGTERM, and an exit code of 0."""
        self.terminate()
        code = self.wait(timeout)
        assert code == 0, f"{self.name} ended with {code}; it said:\n{self.output}"

    def end(self) -> None:
        """Reap it, whatever state it is in."""
        self.kill()
        self._process.wait()
        self._reader.join(PATIENCE)
        assert self._process.stdin is not None
        self._process.stdin.close()

    def _signal(self, number: int) -> None:
        # As long as it is not waited for, its id (and its group's, which is the same) belongs to nobody else.
        if self.alive:
            os.killpg(self.pid, number)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with self._told:
                    self._lines.append(line.rstrip("\n"))
                    self._told.notify_all()
        with self._told:
            self._silent = True
            self._told.notify_all()


P = TypeVar("P", bound=Process)


@contextmanager
def together(count: int, start: Callable[[int], P]) -> Iterator[list[P]]:
    """Several processes, all ready. If the block fails, its error is told what they said; none outlives the block."""
    started: list[P] = []
    try:
        started.extend(start(number) for number in range(count))
        for process in started:
            process.wait_ready()
        yield started
    except BaseException as error:
        for process in started:
            error.add_note(f"{process.name} said:\n{_remarkable(process.output)}")
        raise
    finally:
        for process in started:
            process.end()


def _remarkable(output: str) -> str:
    """The end of what was said, without what a worker says of each job."""
    return "\n".join(line for line in output.splitlines() if "[info" not in line)[-4000:]
