"""The workload under faults, seed by seed. `make simulate SEEDS=…` tries many more, and prints what a seed does."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from hanbeon.testing.simulation import Fault, FaultKind, Moment, Plan, Result, Simulator
from hanbeon.testing.simulation.plan import from_json, to_json
from tests.simulation.workload.loads import LOADS
from tests.simulation.workload.scenario import plan_of, simulator

_QUICK = 12
"""Seeds of each run of the tests: a number, not a time, so that a slow machine tries as many."""
_MORE = 300


@pytest.fixture(scope="module")
def workload() -> Iterator[Simulator]:
    with simulator() as made:
        yield made


def _check(result: Result) -> None:
    again = f"python -m tests.simulation {result.seed} --trace"
    assert not result.findings, "\n".join((*result.findings, f"to see all of it: {again}"))


@pytest.mark.parametrize("seed", range(1, _QUICK + 1))
def test_nothing_is_found(workload: Simulator, seed: int) -> None:
    _check(workload.run(plan_of(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 1_000 + _MORE, 20))
def test_nothing_is_found_in_more_seeds(workload: Simulator, first: int) -> None:
    for seed in range(first, first + 20):
        _check(workload.run(plan_of(seed)))


def test_a_seed_does_the_same_in_every_process(workload: Simulator) -> None:
    seed = 5
    here = {workload.run(plan_of(seed)).digest for _ in range(2)}
    elsewhere = {
        subprocess.run(
            [sys.executable, "-m", "tests.simulation", str(seed), "--digest"],
            check=True,
            capture_output=True,
            text=True,
            timeout=500,
            env={**os.environ, "PYTHONHASHSEED": str(hashes)},
        ).stdout.split()[0]
        for hashes in (1, 2)
    }
    assert len(here | elsewhere) == 1


def test_plans_are_data() -> None:
    for seed in range(50):
        plan = plan_of(seed)
        assert from_json(to_json(plan)) == plan


def test_every_fault_and_operation_is_drawn() -> None:
    """The swarm leaves nothing out: each kind of fault and of call is in one of these plans."""
    plans = [plan_of(seed) for seed in range(1, 101)]
    assert {fault.kind for plan in plans for fault in plan.faults} == set(FaultKind)
    assert {fault.moment for plan in plans for fault in plan.faults} == set(Moment)
    calls = {kind for load in LOADS for kind in load.operations}
    assert {operation.kind for plan in plans for operation in plan.operations} == calls


def test_seeds_differ(workload: Simulator) -> None:
    assert len({workload.run(Plan(seed=seed, until=1.0)).digest for seed in range(3)}) == 3


def test_killed_processes_are_replaced_and_run_no_finally(workload: Simulator) -> None:
    plan = plan_of(3)
    kill = Fault(at=0.5, kind=FaultKind.KILL, moment=Moment.BEFORE_COMMIT, down=0.5)
    result = workload.run(Plan(seed=3, operations=plan.operations, faults=(kill,), settings=plan.settings), traced=True)
    lines = [(each.node, each.text) for each in result.trace]
    assert ("w0.1", "killed") in lines
    killed = lines.index(("w0.1", "killed"))
    assert not any(node == "w0.1" for node, _ in lines[killed + 1 :])
    assert any(node == "w0.2" and text.startswith("log worker_started") for node, text in lines)
    _check(result)
