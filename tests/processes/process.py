"""A Python program of the tests in its own process: written to, read from, signalled and always reaped."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar

from tests.processes.fork_server import ROOT, Program, start_program

PATIENCE = 60.0
READY = "ready"


class Process:
    """One `python -m module …`, leader of its own session. Ends with its `with` block, or by `end()`.

    A program that calls `end_with_the_owner` also ends by itself when its parent is gone.
    """

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        program = Program(module, arguments, {**os.environ, **(environment or {})}, str(ROOT), new_session=True)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self._process = start_program(program, **pipes)
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

    # Output and input

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        """Everything it has printed so far, errors included."""
        with self._told:
            return "\n".join(self._lines)

    @property
    def remarkable(self) -> str:
        """The end of the output, without a worker's lines about each job, and what tasks of tests raise on purpose."""
        usual = ("[info", '"level": "info"', "as asked")
        return "\n".join(line for line in self.output.splitlines() if not any(map(line.__contains__, usual)))[-4000:]

    def wait_ready(self, timeout: float = PATIENCE) -> Self:
        """Wait until it reports that it is ready."""
        self.wait_for(lambda line: line == READY, READY, timeout)
        return self

    def wait_for(self, fits: Callable[[str], bool], what: str, timeout: float = PATIENCE) -> str:
        """Return the first line that fits, or fail with all its output if it ends first or is silent for too long."""
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

    # Signals and its end

    def kill(self) -> None:
        """Send SIGKILL to it and everything in its session, so that nothing is closed or handed back."""
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """Send SIGSTOP: it keeps what it holds and does nothing until `thaw`."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        """Send SIGTERM to it alone: a worker finishes what it runs and hands the rest back."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Wait until it has ended and return its exit code, negative for a signal."""
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
        """Stop it cleanly: SIGTERM, and an exit code of 0."""
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
        # Until it is reaped, its pid (which is also its group's) is not reused.
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
    """Yield several processes, all ready; none outlives the block. If it fails, their output is added to its error."""
    started: list[P] = []
    try:
        started.extend(start(number) for number in range(count))
        for process in started:
            process.wait_ready()
        yield started
    except BaseException as error:
        for process in started:
            error.add_note(f"{process.name} said:\n{process.remarkable}")
        raise
    finally:
        for process in started:
            process.end()
