"""Chains: the walk forward and back, and what becomes of it when processes die."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hanbeon.testing.simulation import Evidence, Operation, Oracle, Simulation
from tests.simulation.directed.case import Case, mutant
from tests.simulation.workload import chain_operations
from tests.simulation.workload.load import Book


async def run_chain(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Create and run a chain; `jobs`: the arguments of each."""
    chains = simulation.app.chains
    made = await chains.create(
        queue_library=chain_operations.__name__,
        jobs=[
            {"forward_operation": "forward", "backward_operation": "backward", "expired_time": 60, "arguments": each}
            for each in args["jobs"]
        ],
        **{"retries": 0, "on_unknown": "retry", "on_backward_failure": "continue"} | args.get("options", {}),
    )
    await chains.run(made.queue_id)


def _chain(at: float, *steps: dict[str, Any], **options: Any) -> Operation:
    return Operation(
        at, "run_chain", {"jobs": [{"n": n} | each for n, each in enumerate(steps, 1)], "options": options}
    )


def walks(*expected: str) -> Oracle:
    """Return the rule that the operations begin in this order; those that were lost once may begin twice."""

    def operations_run_in_order(evidence: Evidence) -> Iterator[str]:
        seen: list[str] = []
        for step in chain_operations._JOURNAL:
            name = f"{step.direction}{step.place}"
            if not seen or seen[-1] != name:
                seen.append(name)
        if tuple(seen) != expected:
            yield f"the chain went {' '.join(seen)} instead of {' '.join(expected)}"

    return operations_run_in_order


def nobody_passes_over(evidence: Evidence) -> Iterator[str]:
    """The first operation is not undone before a person acts, which is after the faults have ended."""
    for step in chain_operations._JOURNAL:
        if step.direction == "B" and step.place == 1 and step.at < evidence.plan.until:
            yield f"B1 began at {step.at:.2f}, before anybody had resumed or skipped B2"


_COMMANDS = {"run_chain": run_chain}
_FAILS: dict[str, Any] = {"fail": 1.0}

CASES = (
    Case(
        "The third operation of a chain fails, and everything is undone",
        [_chain(0.4, {}, {}, _FAILS)],
        [
            mutant(
                "a chain skips the undo of what failed",
                (
                    "surfaces/chains/walk.py",
                    "        return Cursor(at.place, Direction.BACKWARD)\n",
                    "        return Cursor(at.place - 1, Direction.BACKWARD) if at.place else None\n",
                ),
            ),
            mutant(
                "a chain does not undo its first operation",
                (
                    "surfaces/chains/walk.py",
                    "Cursor(at.place - 1, Direction.BACKWARD) if at.place > 0 else None",
                    "Cursor(at.place - 1, Direction.BACKWARD) if at.place > 1 else None",
                ),
            ),
            mutant(
                "a failed operation of a chain counts as done",
                (
                    "surfaces/chains/walk.py",
                    "if at.direction is Direction.FORWARD and outcome is StepOutcome.SUCCESS:",
                    "if at.direction is Direction.FORWARD and outcome is not None:",
                ),
            ),
            mutant(
                "an undone job of a chain is shown as done",
                (
                    "surfaces/chains/walk.py",
                    "    return state + (CANCELED_SUFFIX if outcome is StepOutcome.SUCCESS else FAILED_SUFFIX)\n",
                    "    return state\n",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[walks("F1", "F2", "F3", "B3", "B2", "B1")],
        uses_chains=True,
    ),
    Case(
        "All operations of a chain succeed",
        [_chain(0.4, {}, {}, {})],
        [
            mutant(
                "a chain stops before its last operation",
                ("surfaces/chains/walk.py", "if at.place + 1 < length else None", "if at.place + 2 < length else None"),
            ),
            mutant(
                "a step of a chain is not recorded",
                ("surfaces/chains/walker.py", "        self.steps.append(step)\n", ""),
            ),
        ],
        commands=_COMMANDS,
        oracles=[walks("F1", "F2", "F3")],
        uses_chains=True,
    ),
    Case(
        "The backward operation of a chain fails, and the chain waits for a person",
        [_chain(0.4, {}, {"undo_fails": 1.0} | _FAILS, on_backward_failure="stop")],
        [
            mutant(
                "a failed backward operation is passed over",
                (
                    "surfaces/chains/walker.py",
                    "        if failed and at.direction is Direction.BACKWARD and self._stops:\n",
                    "        if False:\n",
                ),
            )
        ],
        commands=_COMMANDS,
        oracles=[nobody_passes_over],
        uses_chains=True,
    ),
)
