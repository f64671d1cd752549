"""The totals that are kept: which seeds were run on which commit, and what was found."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import msgspec

from hanbeon.testing.simulation import Result

FILE = Path(__file__).with_name("totals.toml")
ROOT = Path(__file__).parents[2]
_HEAD = """# Written by `make simulate SEEDS=1-200 ARGS=--keep`: the seeds of each commit, and those with findings.
# A range that is run again on its commit goes on where it ended.
"""
_MAIN = "origin/main"
_WATCHED = ("src", "tests/simulation")


class Run(msgspec.Struct):
    """A range of seeds on one commit and store, without gaps."""

    commit: str
    store: str
    first: int
    last: int
    findings: list[int]
    bodies: int
    commits: int
    virtual_hours: float
    processor_minutes: float
    cause: str = ""
    """What the findings were, in words of whoever looked."""


class Totals:
    """The file."""

    def __init__(self, file: Path = FILE) -> None:
        self._file = file
        text = file.read_text() if file.exists() else ""
        self.runs = msgspec.convert(tomllib.loads(text).get("runs", []), list[Run])

    def has(self, commit: str, store: str, seed: int) -> bool:
        return any((run.commit, run.store) == (commit, store) and run.first <= seed <= run.last for run in self.runs)

    def add(self, commit: str, store: str, result: Result) -> None:
        """Count a seed, in the range that it continues if there is one."""
        end = (commit, store, result.seed - 1)
        run = next((each for each in self.runs if (each.commit, each.store, each.last) == end), None)
        if run is None:
            run = Run(commit, store, result.seed, result.seed, [], 0, 0, 0.0, 0.0)
            self.runs.append(run)
        run.last = result.seed
        run.findings += [result.seed] * bool(result.findings)
        run.bodies += result.bodies
        run.commits += result.commits
        run.virtual_hours += result.virtual_seconds / 3600
        run.processor_minutes += result.processor_seconds / 60

    def write(self) -> None:
        self._file.write_text(_HEAD + "".join(_table(run) for run in self.runs))


def _table(run: Run) -> str:
    rows = (f"{name} = {_value(value)}" for name, value in msgspec.structs.asdict(run).items() if value != "")
    return "\n[[runs]]\n" + "\n".join(rows) + "\n"


def _value(value: str | float | list[int]) -> str:
    return f'"{value}"' if isinstance(value, str) else str(round(value, 3) if isinstance(value, float) else value)


def commit() -> str:
    """Return the commit of the tree. Raises if what is simulated, or how, differs from it, or if it is not final."""
    if changed := _git("status", "--porcelain", "--", *_WATCHED, ":!tests/simulation/totals.toml"):
        raise SystemExit(f"totals are kept for commits only; commit or stash these first:\n{changed}")
    on_main = subprocess.run(["git", "merge-base", "--is-ancestor", "HEAD", _MAIN], cwd=ROOT, check=False, timeout=60)
    if on_main.returncode:
        raise SystemExit(
            f"totals are kept for commits of {_MAIN} only: others are gone once they are rebased; push first"
        )
    return _git("rev-parse", "HEAD")[:12]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()
