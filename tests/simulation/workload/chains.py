"""Chains that fail, turn around, block and are aborted."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any, ClassVar

from hanbeon.errors import HanbeonError
from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload import chain_operations
from tests.simulation.workload.load import Book, Load


class Chains(Load):
    operations: ClassVar[dict[str, int]] = {"chain": 3, "abort": 1}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self._made: list[int] = []
        self.oracles = (self.chains_walk_there_and_back,)

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        chains = simulation.app.chains
        if kind == "chain":
            made = await chains.create(
                queue_library=chain_operations.__name__,
                jobs=[_job(rng, number) for number in range(1, rng.randint(2, 5))],
                retries=rng.choice((0, 0, 2)),
                on_unknown=rng.choice(("retry", "compensate")),
                on_backward_failure=rng.choice(("continue", "stop")),
            )
            self._made.append(made.queue_id)
            await chains.run(made.queue_id)
        elif self._made:
            with contextlib.suppress(HanbeonError):
                await chains.abort(rng.choice(self._made))

    def restored(self, simulation: Simulation) -> None:
        kept = {(body.job, body.fence) for body in simulation.world.bodies}
        journal = chain_operations._JOURNAL
        journal[:] = [step for step in journal if (step.job, step.fence) in kept]

    async def encourage(self, simulation: Simulation) -> None:
        chains = simulation.app.chains
        for (chain,) in simulation.evidence.rows("SELECT id FROM hanbeon_chain WHERE state = 'BLOCKED'"):
            with contextlib.suppress(HanbeonError):
                await (chains.resume if simulation.world.draw() < 0.5 else chains.skip)(chain)

    def chains_walk_there_and_back(self, evidence: Evidence) -> Iterator[str]:
        frozen = {each.node.name for each in evidence.world.freezes}
        walks: dict[tuple[int, int], list[tuple[str, int]]] = {}
        for step in chain_operations._JOURNAL:
            walk = walks.setdefault((step.chain, step.run), [])
            if step.node not in frozen and (not walk or walk[-1] != (step.direction, step.place)):
                walk.append((step.direction, step.place))
        for chain, walk in walks.items():
            shown = " ".join(f"{direction}{place}" for direction, place in walk)
            forward = [place for direction, place in walk if direction == "F"]
            backward = [place for direction, place in walk if direction == "B"]
            is_one_turn = [direction for direction, _ in walk] == ["F"] * len(forward) + ["B"] * len(backward)
            is_in_order = forward == sorted(set(forward)) and backward == sorted(set(backward), reverse=True)
            if not is_one_turn or not is_in_order:
                yield f"chain {chain} went {shown}"
            elif forward and backward and not frozen and backward[0] not in (forward[-1], forward[-1] + 1):
                yield f"chain {chain} turned wrongly: {shown}"
        for chain, state in evidence.rows("SELECT id, state FROM hanbeon_chain"):
            if state == "RUNNING":
                yield f"chain {chain} is still RUNNING"


def _job(rng: random.Random, number: int) -> dict[str, Any]:
    arguments = {"n": number, "fail": rng.choice((0, 0, 0.3, 1.0)), "undo_fails": rng.choice((0, 0, 0.5))}
    return {
        "forward_operation": "forward",
        "backward_operation": "backward",
        "expired_time": rng.choice((3, 60)),
        "arguments": arguments,
    }
