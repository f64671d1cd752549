"""Runs of directed plans on broken products, and the record of which rules noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tests.databases.installations import Installation
from tests.simulation.directed.broken_copy import broken_copy
from tests.simulation.directed.case import Case, Mutant, Runner
from tests.simulation.directed.library import CASES, MUTANTS, SUBJECTS

RECORD = Path(__file__).parent / "caught.json"
_ROOT = Path(__file__).parents[3]
_REAL_SECONDS = 400


class Caught(msgspec.Struct, frozen=True):
    """A line of the record."""

    subject: str
    mutant: str
    plan: str
    rules: tuple[str, ...]


def kinds_as_json(name: str, installation: Installation | None) -> str:
    """Run a directed plan; return the rules that found something."""
    with Runner.ready(installation) as runner:
        return json.dumps(sorted({kind for result in runner.run(CASES[name]) for kind in result.kinds}))


def caught_by(case: Case, mutant: Mutant, installation: Installation | None = None) -> Sequence[str]:
    """Return the rules that notice the mutant in this plan."""
    server = [] if installation is None else ["--postgres", str(installation.major)]
    with broken_copy(mutant) as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.simulation.directed", "--case", case.name, "--kinds", *server],
            cwd=_ROOT,
            env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=_REAL_SECONDS,
            check=False,
        )
    # A product that does not even start would prove nothing about the rules.
    assert done.returncode == 0, f"{mutant.name}: {done.stderr[-2000:]}"
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def write(caught: Mapping[str, Sequence[str]]) -> None:
    """Record who caught these mutants; what is recorded of others stays, if they still exist."""
    known = {each.mutant: each.rules for each in read()} | {name: tuple(rules) for name, rules in caught.items()}
    subject_of = {case.name: subject for subject, cases in SUBJECTS.items() for case in cases}
    lines = [
        Caught(subject_of[MUTANTS[name][0].name], name, MUTANTS[name][0].name, tuple(rules))
        for name, rules in ((name, known[name]) for name in MUTANTS if name in known)
    ]
    RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(lines), indent=1) + b"\n")


def read() -> list[Caught]:
    return msgspec.json.decode(RECORD.read_bytes(), type=list[Caught])
