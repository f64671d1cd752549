"""The workload on PostgreSQL, one statement at a time. `make simulate STORE=postgres` tries more seeds."""

from collections.abc import Iterator

import msgspec
import pytest

from hanbeon.testing.simulation import Fault, FaultKind, Moment, Operation, Plan, Result, Simulator
from hanbeon.testing.simulation.postgres import KINDS
from tests.databases.installations import Installation
from tests.simulation.directed.case import SETTINGS, job, on_both
from tests.simulation.stores import postgres
from tests.simulation.workload.scenario import plan_of, simulator

_FIRST_SLOW, _SLOW = 1_000, 10


@pytest.fixture(scope="module")
def workload(postgres_installation: Installation) -> Iterator[Simulator]:
    with simulator(postgres(postgres_installation)) as made:
        yield made


def _check(result: Result) -> None:
    again = f"python -m tests.simulation {result.seed} --store postgres --trace"
    assert not result.findings, "\n".join((*result.findings, f"to see all of it: {again}"))


def _plan(*faults: Fault) -> Plan:
    wanted = [job("ledger", seconds=0.5), job("parent"), job(queue="keyed", concurrency_key="a"), job("threaded")]
    batch = Operation(0.4, "batch", {"jobs": wanted})
    return Plan(seed=1, operations=(batch,), faults=faults, settings=SETTINGS, until=3.0)


@pytest.mark.parametrize("seed", [3])
def test_nothing_is_found_on_postgres(workload: Simulator, seed: int) -> None:
    plan = plan_of(seed, KINDS)
    _check(workload.run(msgspec.structs.replace(plan, until=8.0)))


def test_faults_reach_postgres(workload: Simulator) -> None:
    """A commit whose answer is lost, a killed process in a transaction, and a server that ends its sessions."""
    faults = (
        *on_both(Fault(at=0.3, kind=FaultKind.LOSE, moment=Moment.AFTER_COMMIT, skip=1)),
        Fault(at=0.6, kind=FaultKind.KILL, moment=Moment.BEFORE_COMMIT),
        Fault(at=1.5, kind=FaultKind.REFUSE, node=1, seconds=0.5),
    )
    result = workload.run(_plan(*faults), traced=True)
    _check(result)
    assert sum(entry.text.startswith("FAULT") for entry in result.trace) == len(faults)
    assert any(entry.text == "killed" for entry in result.trace)


def test_a_seed_does_the_same_on_postgres(workload: Simulator) -> None:
    freeze = Fault(at=0.5, kind=FaultKind.FREEZE, moment=Moment.STATEMENT, seconds=1.0)
    assert len({workload.run(_plan(freeze)).digest for _ in range(2)}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("first", range(_FIRST_SLOW, _FIRST_SLOW + _SLOW, 5))
def test_nothing_is_found_in_more_seeds_on_postgres(workload: Simulator, first: int) -> None:
    for seed in range(first, first + 5):
        _check(workload.run(plan_of(seed, KINDS)))
