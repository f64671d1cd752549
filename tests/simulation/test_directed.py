"""Directed plans on the unbroken product, and what becomes of them on broken ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases.installations import Installation
from tests.simulation.directed import mutation
from tests.simulation.directed.broken_copy import misfits
from tests.simulation.directed.case import Case, Runner
from tests.simulation.directed.library import CASES, MUTANTS, SUBJECTS
from tests.simulation.stores import POSTGRES, SQLITE

_AS_A_SAMPLE = (
    "a success is recorded without the fence",
    "own writes are committed although the success was refused",
    "a chain skips the undo of what failed",
)
_OTHERS = [name for name, (case, _) in MUTANTS.items() if case.store == SQLITE and name not in _AS_A_SAMPLE]
_ON_POSTGRES = [name for name, (case, _) in MUTANTS.items() if case.store == POSTGRES]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner.ready() as made:
        yield made


def _check(runner: Runner, case: Case) -> None:
    for result in runner.run(case):
        again = f"python -m tests.simulation.directed --case {case.name!r} --trace"
        assert not result.findings, "\n".join((*result.findings, f"to see all of it: {again}"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.store == SQLITE])
def test_directed_plan_finds_nothing(runner: Runner, name: str) -> None:
    _check(runner, CASES[name])


def test_directed_plans_find_nothing_on_postgres(postgres_installation: Installation) -> None:
    """All in one test: the template of the servers takes longer than the plans."""
    with Runner.ready(postgres_installation) as runner:
        for case in CASES.values():
            if case.store == POSTGRES:
                _check(runner, case)


def test_each_plan_and_mutant_is_named_once() -> None:
    cases = [case for cases in SUBJECTS.values() for case in cases]
    assert len(CASES) == len(cases)
    assert len(MUTANTS) == sum(len(case.mutants) for case in cases)
    assert all(bool(case.mutants) != case.is_about_rules for case in cases)


def test_changes_of_mutants_fit_the_product() -> None:
    assert not [text for _, mutant in MUTANTS.values() for text in misfits(mutant)]


def test_the_record_names_every_mutant() -> None:
    """`make mutants` writes it, and `make docs` makes a table of it."""
    recorded = {each.mutant: each for each in mutation.read()}
    assert set(recorded) == set(MUTANTS)
    assert all(each.rules for each in recorded.values())
    assert {each.mutant: each.plan for each in recorded.values()} == {
        name: case.name for name, (case, _) in MUTANTS.items()
    }


@pytest.mark.parametrize("name", _AS_A_SAMPLE)
def test_broken_product_is_noticed(name: str) -> None:
    assert mutation.caught_by(*MUTANTS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", _OTHERS)
def test_every_broken_product_is_noticed(name: str) -> None:
    assert mutation.caught_by(*MUTANTS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", _ON_POSTGRES)
def test_every_broken_product_is_noticed_on_postgres(postgres_installation: Installation, name: str) -> None:
    assert mutation.caught_by(*MUTANTS[name], postgres_installation)
