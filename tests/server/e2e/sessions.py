"""Sessions of these tests: programs that write to a journal that they began, and end, wait or never end."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

_TASKS = """
[tasks.note]
command = ["{python}", "-S", "{program}", "note", "{journal}", "{{args.name}}"]

[tasks.gate]
command = ["{python}", "-S", "{program}", "gate", "{journal}", "{{args.name}}"]

[tasks.stuck]
command = ["{python}", "-S", "{program}", "stuck", "{journal}", "{{args.name}}"]
"""
_TICK = 0.02


class Begun(NamedTuple):
    """A line of the journal: a session has begun."""

    name: str
    pid: int


class Workshop:
    """A folder with a hanbeon.toml of these sessions, their journal, and the gates that they wait at."""

    def __init__(self, folder: Path) -> None:
        self._journal = folder / "journal"
        self._journal.touch()
        self.config = folder / "hanbeon.toml"
        self.config.write_text(_TASKS.format(python=sys.executable, program=__file__, journal=self._journal))

    def begun(self) -> list[Begun]:
        lines = [line.split(" ") for line in self._journal.read_text().splitlines()]
        return [Begun(name, int(pid)) for name, pid in lines]

    def open_gate(self, name: str) -> None:
        _gate(self._journal, name).touch()


def _gate(journal: Path, name: str) -> Path:
    return journal.with_name(f"{name}.open")


def _main(kind: str, journal: Path, name: str) -> None:

    with journal.open("a") as lines:
        lines.write(f"{name} {os.getpid()}\n")
    while kind == "stuck" or (kind == "gate" and not _gate(journal, name).exists()):
        time.sleep(_TICK)
    time.sleep(_TICK)


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
