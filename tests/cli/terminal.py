"""Runs a command on a pseudo-terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from typing import Any

from tests.cli.hanbeon import SCRIPT, environment


def _begin() -> None:
    """Take the terminal over, and let SIGHUP end the process even if the test run ignores it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Terminal:
    """A command on a pseudo-terminal; leaving the context kills it."""

    def __init__(self, *arguments: str, width: int = 120, height: int = 40) -> None:
        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.modes = termios.tcgetattr(self._theirs)
        inherited = environment(TERM="xterm-256color")
        del inherited["COLUMNS"], inherited["LINES"]
        self.process = subprocess.Popen(
            [SCRIPT, *arguments],
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env=inherited,
            start_new_session=True,
            preexec_fn=_begin,  # noqa: PLW1509 - nothing here has threads
        )
        self.shown = ""

    def until(self, pattern: str, seconds: float = 30) -> str:
        """Wait until the output matches, and return it."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.shown, re.DOTALL):
            ready, _, _ = select.select([self._ours], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"no {pattern!r} in {self.shown!r}"
            self.shown += os.read(self._ours, 100_000).decode(errors="replace")
        return self.shown

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def press_until_it_ends(self, keys: str, seconds: float = 30) -> None:
        """Press repeatedly: Python's `input` misses a signal that arrives just before it begins to read."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.press(keys)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(3)

    def end(self) -> tuple[int, list[Any]]:
        """Return the exit code, and the modes in which the command left the terminal."""
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            self.rest()  # A process whose output is not read does not end.
        return self.process.wait(1), termios.tcgetattr(self._theirs)

    def rest(self) -> str:
        while select.select([self._ours], [], [], 0.1)[0]:
            self.shown += os.read(self._ours, 100_000).decode(errors="replace")
        return self.shown

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        for end in (self._theirs, self._ours):
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, end)
            os.close(nowhere)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)
