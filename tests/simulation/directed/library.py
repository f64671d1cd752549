"""All directed plans: those of every file of `subjects/`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from tests.simulation.directed import subjects
from tests.simulation.directed.case import Case, Mutant

SUBJECTS: dict[str, tuple[Case, ...]] = {
    found.name: import_module(f"{subjects.__name__}.{found.name}").CASES
    for found in pkgutil.iter_modules(subjects.__path__)
}
CASES: dict[str, Case] = {case.name: case for cases in SUBJECTS.values() for case in cases}
MUTANTS: dict[str, tuple[Case, Mutant]] = {
    mutant.name: (case, mutant) for case in CASES.values() for mutant in case.mutants
}
