"""`simulate`: a user's own tasks under crashes, with the user's own invariant."""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hanbeon.app import App
from hanbeon.errors import InvalidInput
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

if TYPE_CHECKING:
    from hanbeon.testing.simulation import Plan, Result, Simulation
    from hanbeon.testing.simulation.world import Entry

_SETTINGS: dict[str, Any] = {"lease": 3.0, "poll": 1.0, "watch": 0.5, "shutdown_grace": 2.0}
_LINES = 60
_MOST_AT_ONCE = 4

Workload = Callable[["Simulated"], Awaitable[None]]
Invariant = Callable[["Simulated"], None]
Answer = Callable[[str], Any]


class Simulated:
    """A simulated world, as a workload and an invariant see it."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    @property
    def app(self) -> App:
        """The App on a client that never crashes."""
        return self._simulation.app

    @property
    def effects(self) -> Mapping[str, list[Any]]:
        """The lists of `effects`, by name; one that nobody has used is empty."""
        return self._simulation.world.effects

    def rows(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        """Read from the simulated SQLite file, for tables of your own."""
        return self._simulation.evidence.rows(sql, *args)


class Trials(msgspec.Struct, frozen=True):
    """The extent of a simulation in which nothing was found."""

    seeds: int
    jobs: int
    bodies: int
    virtual_seconds: float


class SimulationFailed(AssertionError):
    """An invariant was broken, or the engine found something wrong. The text has the seed, the plan and the trace."""

    def __init__(self, seed: int, plan: Plan, result: Result) -> None:
        super().__init__(_report(seed, plan, result))
        self.seed, self.plan = seed, plan
        self.findings: Sequence[str] = result.findings
        self.trace: Sequence[Entry] = result.trace


def effects(name: str) -> list[Any]:
    """Return a list that stands for something outside the database, such as a bank: it survives every crash.

    For bodies of tasks within `simulate`, or the fakes that they call there.
    """
    from hanbeon.testing.simulation.world import current_node

    node = current_node.get()
    if node is None:
        raise RuntimeError("effects() is for bodies that run within hanbeon.testing.simulate")
    return node.world.effects[name]


def simulate(
    app: App,
    workload: Workload,
    invariant: Invariant,
    *,
    seeds: int | Iterable[int] = 200,
    faults: Sequence[str] = ("kill", "freeze", "lose"),
    http: Answer | None = None,
    workers: int = 2,
    seconds: float = 15.0,
    settings: Mapping[str, Any] | None = None,
) -> Trials:
    """Run a workload under faults, once a seed, and check the invariant when all jobs have ended.

    Raises SimulationFailed for the first seed that breaks it. `seeds`: how many, or which ones, so that `seeds=[17]`
    repeats one. `faults`: kinds of `FaultKind`, in workers only. `http`: answers HTTP tasks by their URL, with a value
    or with a status and a value. `seconds`: how long there are faults, in virtual time.
    """
    from hanbeon.testing.simulation import FaultKind, Plan, Scenario, Simulator, shrink
    from hanbeon.testing.simulation.plan import TAKES_ALL
    from hanbeon.testing.simulation.swarm import random_faults

    known = [kind.value for kind in FaultKind if kind not in TAKES_ALL]
    if unknown := [each for each in faults if each not in known]:
        raise InvalidInput(
            Rule("must_be", what=Rule("one_of", choices=", ".join(known)), got=quoted(unknown[0])), field="faults"
        )
    kinds = tuple(FaultKind(each) for each in faults)
    chosen = list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)
    in_force = _SETTINGS | dict(settings or {})

    class Trial(Scenario):
        def __init__(self) -> None:
            super().__init__(app)
            self.oracles = (self.invariant,)

        async def prepare(self, simulation: Simulation) -> None:
            simulation.world.http = http
            self._simulated = Simulated(simulation)
            # No operation of the plan, which shrinking would leave out.
            self._work = simulation.spawn(simulation.client, _awaited(workload(self._simulated)))

        async def calm(self, simulation: Simulation) -> None:
            await simulation.answered([self._work])

        def invariant(self, evidence: Any) -> Iterator[str]:
            try:
                invariant(self._simulated)
            except Exception as error:
                line = traceback.extract_tb(error.__traceback__)[-1].line
                yield f"{type(error).__name__}: {str(error) or line}"

    def plan_of(seed: int) -> Plan:
        drawn = random_faults(random.Random(f"trial-{seed}"), workers, seconds, in_force["lease"], kinds)
        struck = tuple(msgspec.structs.replace(each, node=max(0, each.node)) for each in drawn)
        return Plan(seed=seed, faults=struck, settings=in_force, workers=workers, until=seconds)

    jobs = bodies = 0
    virtual = 0.0
    width = min(_MOST_AT_ONCE, os.cpu_count() or 1)
    with Simulator(Trial) as simulator:
        for start in range(0, len(chosen), width):
            plans = [plan_of(seed) for seed in chosen[start : start + width]]
            for plan, result in zip(plans, simulator.run_at_once(plans), strict=True):
                if result.findings:
                    least = shrink(simulator.run_at_once, plan, result, width=width)
                    raise SimulationFailed(plan.seed, least.plan, least.result)
                jobs, bodies, virtual = jobs + result.jobs, bodies + result.bodies, virtual + result.virtual_seconds
    return Trials(len(chosen), jobs, bodies, virtual)


async def _awaited(work: Awaitable[None]) -> None:
    await work


def _report(seed: int, plan: Plan, result: Result) -> str:
    lines = [f"seed {seed}: {result.findings[0]}", *result.findings[1:4], "", "What went wrong on purpose:"]
    lines += [f"  {fault}, in worker {fault.node}" for fault in plan.faults] or ["  nothing: no fault is needed"]
    lines += ["", "What happened (seconds, process, what):"]
    lines += [f"  {at:9.3f} {node:6} {text[:140]}" for at, node, text in result.trace[-_LINES:]]
    return "\n".join([*lines, "", f"simulate(…, seeds=[{seed}]) repeats it."])
