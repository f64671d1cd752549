"""Workflows: steps one after the other, across processes that die."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hanbeon.testing.simulation import Evidence, Moment, Operation, Oracle, Simulation
from tests.simulation.directed.case import Case, kill, mutant, on_both
from tests.simulation.workload.load import Book


async def run_workflow(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Create a workflow that runs at once; `steps`: the tasks of its steps, which stop it if they fail."""
    steps = [
        {
            "type": "task",
            "task_id": task,
            "retries": 0,
            "timeout": 30,
            "on_error": "stop",
            "args": {"seconds": 0.5, "count": 9},
        }
        for task in args["steps"]
    ]
    await simulation.app.workflows.create(name="w", steps=steps, schedule_config={"mode": "immediate"}, status="active")


def steps_are(*expected: str) -> Oracle:
    """Return the rule that these are the tasks of the steps that succeeded or failed, in this order, each once."""

    def steps_run_once(evidence: Evidence) -> Iterator[str]:
        jobs = sorted(job for job in evidence.jobs.values() if not job.is_built_in)
        if tuple(job.task for job in jobs) != expected:
            yield f"the steps were {[job.task for job in jobs]} instead of {expected}"

    return steps_run_once


_COMMANDS = {"run_workflow": run_workflow}
_STEPS = "surfaces/workflows/step_rows.py"

CASES = (
    Case(
        "A workflow goes from step to step while processes are killed",
        [Operation(0.4, "run_workflow", {"steps": ["plain", "ledger", "plain"]})],
        [
            mutant(
                "the job of a step is forgotten",
                (_STEPS, "    await enqueues.enqueue(tx, lanes, [job])\n    return True\n", "    return True\n"),
            ),
        ],
        [*on_both(kill(0.7, 0, Moment.AFTER_COMMIT)), *on_both(kill(3.0, 0, Moment.BEFORE_COMMIT))],
        commands=_COMMANDS,
        oracles=[steps_are("plain", "ledger", "plain")],
    ),
    Case(
        "A step of a workflow fails, and the next one does not begin",
        [Operation(0.4, "run_workflow", {"steps": ["plain", "flaky", "ledger"]})],
        [
            mutant(
                "a workflow continues after a step that failed",
                (
                    "surfaces/workflows/run_body.py",
                    "            if record.status is StepStatus.FAILED and step.on_error is OnError.STOP:\n",
                    "            if record.status is StepStatus.FAILED and False:\n",
                ),
                (
                    "surfaces/workflows/run_body.py",
                    "        if outcome is not None:\n            return outcome\n",
                    "        if isinstance(outcome, PutOff):\n            return outcome\n",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[steps_are("plain", "flaky")],
    ),
)
