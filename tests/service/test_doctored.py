"""`verify` finds nothing in a healthy database that holds everything, and each way in which it was broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from hanbeon.domain.audit.findings import EngineInvariant, Invariant
from hanbeon.service.verify import render
from hanbeon.surfaces.verify import audits_of, verify
from tests.clinic import Clinic, Doctoring, clinic, every_doctoring, parts, problem, unmatched
from tests.databases.run import SERVERS


def every_invariant() -> list[Invariant]:
    return [*EngineInvariant, *(rule for audit in audits_of() for rule in audit.invariants)]


async def problems(clinic: Clinic, doctorings: list[Doctoring]) -> dict[str, str]:
    found = {}
    for doctoring in doctorings:
        async with clinic.patient(doctoring.part) as patient:
            try:
                named = await doctoring.doctor(patient)
            except Exception as error:
                found[doctoring.name] = repr(error)
                continue
            if (text := problem(doctoring, named, await verify(patient.store))) is not None:
                found[doctoring.name] = text
    return found


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_verify_finds_each_doctoring_and_nothing_else(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    doctorings = [each for each in every_doctoring() if each.only in (None, store)]
    async with clinic(store, request.config.stash[SERVERS], tmp_path, parts()) as healthy:
        async with healthy.patient("engine") as patient:
            report = await verify(patient.store)
        assert report.findings == (), render(report)
        assert {name for name, number in report.counts.items() if not number} == set(), "tables without rows"
        found = await problems(healthy, doctorings)
    assert found == {}, "\n\n".join(f"{name}: {text}" for name, text in found.items())


def test_every_invariant_has_doctorings_and_they_no_others() -> None:
    assert unmatched(every_invariant(), every_doctoring()) == (set(), set())
    assert len(every_doctoring()) >= 60
    names = [str(each) for each in every_invariant()]
    assert len(names) == len(set(names)), "a checkpoint finds invariants by name"
