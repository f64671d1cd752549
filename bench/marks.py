"""Reads the marks that `bench.adapters.marks` writes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from bench.adapters.marks import MARK

_POLL_SECONDS = 0.01


class Marks:
    """The file that the jobs of one measurement append to."""

    def __init__(self, folder: Path) -> None:
        # In memory where possible: writing a mark is the jobs' only work and should cost nothing.
        self.path = folder / "marks"
        self.clear()

    def clear(self) -> None:
        self.path.write_bytes(b"")

    def count(self) -> int:
        return os.path.getsize(self.path) // MARK.size

    def read(self, start: int = 0) -> list[tuple[int, int]]:
        """Return the number and the nanosecond of every job that ran, after the first `start` ones."""
        with self.path.open("rb") as file:
            file.seek(start * MARK.size)
            content = file.read()
        return list(MARK.iter_unpack(content[: len(content) // MARK.size * MARK.size]))

    def wait(self, count: int, timeout: float, check: Callable[[], None]) -> bool:
        """Wait for that many jobs and return whether they ran in time; `check` is called meanwhile and may raise."""
        until = time.monotonic() + timeout
        while self.count() < count:
            if time.monotonic() > until:
                return False
            check()
            time.sleep(_POLL_SECONDS)
        return True
