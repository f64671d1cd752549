"""A file that many processes append to and nobody rewrites: records what bodies did, independently of the database."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path


def boottime() -> float:
    """Seconds on a clock that all processes of this machine share and that never steps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


def write_line(path: str, line: str) -> None:
    """One write of one line: with O_APPEND the kernel keeps lines of several processes apart."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


class Journal:
    """Reads the lines of a journal."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def at(cls, path: str) -> Journal:
        return cls(Path(path))

    def __str__(self) -> str:
        return str(self.path)

    def lines(self, word: str | None = None) -> list[list[str]]:
        """The lines in the order they were written, as words; those that begin with `word`."""
        written = self.path.read_text().splitlines() if self.path.exists() else []
        return [words for words in map(str.split, written) if word is None or words[0] == word]

    def count(self, word: str) -> Counter[str]:
        """Count how often each job is named after `word`."""
        return Counter(words[1] for words in self.lines(word))
