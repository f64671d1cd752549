"""Directed plans and mutants as data, and the scenario that carries them out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from hanbeon.testing.simulation import Fault, FaultKind, Moment, Operation, Oracle, Plan, Result, Simulation, Simulator
from tests.databases.installations import Installation
from tests.simulation.stores import SQLITE, store_of
from tests.simulation.workload.load import Book
from tests.simulation.workload.scenario import Workload, learn_operations

LEASE = 3.0
SETTINGS: dict[str, Any] = {
    "lease": LEASE,
    "poll": 1.0,
    "concurrency": 3,
    "watch": 0.5,
    "shutdown_grace": 0.0,
    "max_log_bytes": 0,
}


class Change(NamedTuple):
    """A text of a source file, which must occur there exactly once, and what stands in its place in the mutant."""

    file: str
    """Below `src/hanbeon`."""
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """The product, broken on purpose."""

    name: str
    changes: tuple[Change, ...]


def mutant(name: str, *changes: tuple[str, str, str]) -> Mutant:
    return Mutant(name, tuple(Change(*each) for each in changes))


Command = Callable[[Simulation, Book, Mapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Case:
    """A directed plan. On the unbroken product nothing may be found; in each mutant something must be."""

    name: str
    """A sentence: what happens, and what must hold nevertheless."""
    operations: Sequence[Operation]
    mutants: Sequence[Mutant]
    faults: Sequence[Fault] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    """Kinds of operations of this plan alone, besides those of the workload."""
    oracles: Sequence[Oracle] = ()
    """Rules that hold in this plan, and not in every one."""
    workers: int = 2
    until: float = 12.0
    patience: float = 120.0
    """How long jobs may take after the faults. A product that never ends one is watched for all of it."""
    variations: int = 2
    """Seeds under which it is run: they decide what the plan leaves open."""
    store: str = SQLITE
    """One of `stores.STORES`. Races within a transaction are those of PostgreSQL: SQLite admits one writer."""
    uses_chains: bool = False
    is_about_rules: bool = False
    """It has no mutant: a rule of the simulation was wrong about what happens here."""

    def plans(self) -> Iterator[Plan]:
        for seed in range(1, self.variations + 1):
            yield Plan(
                seed=seed,
                operations=tuple(sorted(self.operations, key=lambda each: each.at)),
                faults=tuple(self.faults),
                settings=SETTINGS | dict(self.settings),
                workers=self.workers,
                until=self.until,
                patience=self.patience,
            )


class Script(Workload):
    """The workload with the commands and rules of one directed plan."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self._commands = case.commands
        self.oracles = (*self.oracles, *case.oracles)

    async def carry_out(self, simulation: Simulation, operation: Operation) -> None:
        command = self._commands.get(operation.kind)
        if command is None:
            await super().carry_out(simulation, operation)
        else:
            await command(simulation, self.book, operation.args)


class Runner:
    """Runs directed plans, one fork a plan."""

    def __init__(self, open_simulators: ExitStack, installation: Installation | None) -> None:
        self._open_simulators, self._installation = open_simulators, installation
        self._simulators: dict[str, Simulator] = {}
        self._case = Case("", (), ())

    def run(self, case: Case, *, traced: bool = False) -> Iterator[Result]:
        """Run the variations of a plan, one after the other, for as long as they are asked for."""
        self._case = case
        if case.uses_chains:
            learn_operations()
        simulator = self._simulator(case.store)
        for plan in case.plans():
            yield simulator.run(plan, traced=traced)

    def _simulator(self, store: str) -> Simulator:
        """Return the simulator of a store; its template is made for the first plan that needs it."""
        if store not in self._simulators:
            made = Simulator(lambda: Script(self._case), store=store_of(store, self._installation))
            self._simulators[store] = self._open_simulators.enter_context(made)
        return self._simulators[store]

    @classmethod
    @contextmanager
    def ready(cls, installation: Installation | None = None) -> Iterator[Runner]:
        """`installation`: the PostgreSQL for the plans that need one, instead of the newest."""
        with ExitStack() as open_simulators:
            yield cls(open_simulators, installation)


# Words for plans


def jobs(at: float, *wanted: Mapping[str, Any]) -> Operation:
    """Enqueue these jobs in one call."""
    return Operation(at, "batch", {"jobs": list(wanted)})


def job(kind: str = "plain", seconds: float = 0.0, count: int = 1, after: Sequence[int] = (), **options: Any) -> Any:
    """Describe a job; `after`: the places of jobs of the same call on which it depends."""
    options = {"queue": "default"} | options
    return {
        "kind": kind,
        "seconds": seconds,
        "count": count,
        "options": options,
        "after": list(after),
        "before": False,
    }


def freeze(at: float, node: int, seconds: float, moment: Moment = Moment.NOW, skip: int = 0) -> Fault:
    return Fault(at=at, kind=FaultKind.FREEZE, node=node, moment=moment, seconds=seconds, skip=skip)


def kill(at: float, node: int, moment: Moment = Moment.NOW, down: float = 0.5, skip: int = 0) -> Fault:
    return Fault(at=at, kind=FaultKind.KILL, node=node, moment=moment, down=down, skip=skip)


def lose(at: float, node: int, moment: Moment, skip: int = 0) -> Fault:
    return Fault(at=at, kind=FaultKind.LOSE, node=node, moment=moment, skip=skip)


def on_both(fault: Fault) -> tuple[Fault, ...]:
    """Return the fault for both workers: which of them claims the job is open."""
    return tuple(msgspec.structs.replace(fault, node=node) for node in (0, 1))
