"""Plans that break a rule are made as small as they can be."""

from collections.abc import Iterator

from hanbeon import App
from hanbeon.testing.simulation import (
    Evidence,
    Fault,
    FaultKind,
    Operation,
    Plan,
    Result,
    Scenario,
    Simulation,
    Simulator,
    shrink,
)

app = App("sqlite:///unused.db")


@app.task(retries=10, retry_delay=0)
async def write(number: int) -> int:
    return number


def sevens_are_never_killed(evidence: Evidence) -> Iterator[str]:
    """A rule that takes one of the operations and one kind of fault to break."""
    killed = any(entry.text == "killed" for entry in evidence.world.trace)
    if killed and evidence.rows("SELECT 1 FROM hanbeon_jobs WHERE args LIKE '%7%'"):
        yield "there is a seven"


class Numbers(Scenario):
    oracles = (sevens_are_never_killed,)

    def __init__(self) -> None:
        super().__init__(app)

    async def carry_out(self, simulation: Simulation, operation: Operation) -> None:
        await simulation.app.enqueue_many([write.call(number) for number in operation.args["numbers"]])


_PLAN = Plan(
    seed=1,
    operations=tuple(Operation(0.3 * number, "write", {"numbers": [number, 10 + number]}) for number in range(1, 9)),
    faults=tuple(
        Fault(at=0.5 + number, kind=kind, node=number % 2, seconds=1.0)
        for number, kind in enumerate((FaultKind.SLOW, FaultKind.FREEZE, FaultKind.KILL, FaultKind.DEAFEN))
    ),
    settings={"lease": 3.0, "poll": 1.0},
    until=8.0,
)


def test_leaves_out_all_that_is_not_needed() -> None:
    with Simulator(Numbers) as simulator:
        result = simulator.run(_PLAN)
        assert result.findings == ("sevens are never killed: there is a seven",)
        shrunk = shrink(simulator.run_at_once, _PLAN, result, seconds=600, width=2)
    assert shrunk.is_finished
    assert [fault.kind for fault in shrunk.plan.faults] == [FaultKind.KILL]
    assert [operation.args for operation in shrunk.plan.operations] in ([{"numbers": [7]}], [{"numbers": [17]}])
    assert shrunk.plan.workers == 1
    assert shrunk.plan.until < 4.0
    assert shrunk.result.findings == result.findings
    assert any("FAULT kill" in entry.text for entry in shrunk.result.trace)


def test_gives_up_when_its_time_is_over() -> None:
    tries = []

    def run(plans: object) -> list[Result]:
        tries.append(plans)
        return [Result(1, ("rule: broken",))]

    shrunk = shrink(run, _PLAN, Result(1, ("rule: broken",)), seconds=-1.0)
    assert not shrunk.is_finished
    assert shrunk.plan == _PLAN
    assert tries == []


def test_findings_of_another_rule_do_not_count() -> None:
    def run(plans: object) -> list[Result]:
        return [Result(1, ("another: broken",))]

    shrunk = shrink(run, _PLAN, Result(1, ("rule: broken",)))
    assert shrunk.is_finished
    assert shrunk.plan == _PLAN
