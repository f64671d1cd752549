"""The scenario of the workload, and the plan of each seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from hanbeon import App
from hanbeon.errors import DatabaseUnavailable, HanbeonError
from hanbeon.surfaces.chains.library import operation_names
from hanbeon.testing.simulation import FaultKind, Operation, Plan, Scenario, Simulation, Simulator
from hanbeon.testing.simulation.database import SimulatedStore
from hanbeon.testing.simulation.swarm import random_faults
from tests.simulation.workload import chain_operations
from tests.simulation.workload.load import Book, app
from tests.simulation.workload.loads import LOADS
from tests.simulation.workload.retention import RETENTION

_RNG = "rng"
"""The argument of every operation that seeds what it chooses by what there is."""


class Workload(Scenario):
    """Everything at once."""

    def __init__(self) -> None:
        super().__init__(app)
        self.book = Book()
        self.loads = [load(self.book) for load in LOADS]
        self._by_operation = {kind: load for load in self.loads for kind in load.operations}
        self.oracles = tuple(oracle for load in self.loads for oracle in load.oracles)

    def set_up(self, simulation: Simulation, app: App) -> None:
        for load in self.loads:
            load.set_up(simulation, app)

    def backed_up(self, simulation: Simulation) -> None:
        self.book.back_up()

    def restored(self, simulation: Simulation) -> None:
        self.book.restore()
        for load in self.loads:
            load.restored(simulation)

    async def prepare(self, simulation: Simulation) -> None:
        for load in self.loads:
            await load.prepare(simulation)

    async def carry_out(self, simulation: Simulation, operation: Operation) -> None:
        args: dict[str, Any] = {name: value for name, value in operation.args.items() if name != _RNG}
        rng = random.Random(operation.args.get(_RNG, 0))
        try:
            await self._by_operation[operation.kind].carry_out(simulation, operation.kind, args, rng)
        except DatabaseUnavailable:
            raise
        except HanbeonError as error:
            simulation.world.note(simulation.client, f"{operation.kind} is refused: {type(error).__name__} {error}")

    async def calm(self, simulation: Simulation) -> None:
        for load in self.loads:
            await load.calm(simulation)

    async def encourage(self, simulation: Simulation) -> None:
        for load in self.loads:
            await load.encourage(simulation)

    async def finish(self, simulation: Simulation) -> None:
        for load in self.loads:
            await load.finish(simulation)


def plan_of(seed: int, possible: Iterable[FaultKind] = tuple(FaultKind)) -> Plan:
    """Return the plan of a seed: a few kinds of load, a few causes of the possible faults, both often."""
    rng = random.Random(f"plan-{seed}")
    lease = rng.choice((3.0, 3.0, 6.0))
    until = rng.choice((8.0, 15.0, 15.0, 30.0))
    workers = rng.choice((1, 2, 3, 3))
    settings: dict[str, Any] = {
        "lease": lease,
        "poll": rng.choice((1.0, 5.0)),
        "concurrency": rng.choice((1, 3, 8)),
        "watch": 0.5,
        "shutdown_grace": rng.choice((0.0, 2.0)),
        "max_log_bytes": rng.choice((0, 4096)),
    }
    kinds = tuple(possible)
    if rng.random() < 0.1:
        settings |= RETENTION
        # Rows of a time to which the clock was set back look older than their neighbours, and are pruned before them.
        kinds = tuple(kind for kind in kinds if kind is not FaultKind.STEP)
    return Plan(
        seed=seed,
        operations=_operations(rng, until),
        faults=random_faults(rng, workers, until, lease, kinds),
        settings=settings,
        workers=workers,
        until=until,
    )


def _operations(rng: random.Random, until: float) -> tuple[Operation, ...]:
    loads = [load for load in LOADS if load is LOADS[0] or rng.random() < 0.5]
    kinds = {kind: (load, weight) for load in loads for kind, weight in load.operations.items()}
    rates = [weight for _, weight in kinds.values()]
    operations = []
    for _ in range(round(until * rng.choice((0.7, 1.5, 3.0)))):
        (kind,) = rng.choices(list(kinds), rates)
        # Each load is planned by a class that needs no book for it.
        args = kinds[kind][0](Book()).plan(kind, rng)
        operations.append(Operation(round(rng.uniform(0.0, until * 0.9), 3), kind, args | {_RNG: rng.randrange(2**32)}))
    return tuple(sorted(operations, key=lambda each: each.at))


@contextmanager
def simulator(store: SimulatedStore | None = None) -> Iterator[Simulator]:
    """A simulator of the workload, on SQLite or another store."""
    learn_operations()
    with Simulator(Workload, store=store) as made:
        yield made


def learn_operations() -> None:
    """Find the operations of chains out, in a process, which a simulation has none of; remembered for all runs."""
    asyncio.run(operation_names(chain_operations.__name__, ["forward", "backward"]))
