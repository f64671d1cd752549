"""Workflows of task and wait steps."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any, ClassVar

from hanbeon.errors import HanbeonError
from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.load import Book, Load


class Workflows(Load):
    operations: ClassVar[dict[str, int]] = {"workflow": 2, "cancel_run": 1}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self._made: list[str] = []
        self._number = 0
        self.oracles = (self.runs_end,)

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        workflows = simulation.app.workflows
        if kind == "workflow":
            self._number += 1
            steps = [_step(rng) for _ in range(rng.randint(1, 4))]
            mode: dict[str, Any] = rng.choice(({"mode": "immediate"}, {"mode": "delayed", "delay_minutes": 1}))
            made = await workflows.create(name=f"w{self._number}", steps=steps, schedule_config=mode, status="active")
            self._made.append(made.id)
        elif self._made:
            workflow = rng.choice(self._made)
            for run in (await workflows.runs(workflow)).items[:1]:
                with contextlib.suppress(HanbeonError):
                    await workflows.cancel(workflow, run.run_id)

    def runs_end(self, evidence: Evidence) -> Iterator[str]:
        for run, ended_at in evidence.rows("SELECT run_id, ended_at FROM hanbeon_workflow_run"):
            if ended_at is None:
                yield f"run {run} has not ended"


def _step(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(("plain", "wait", "flaky", "once", "slow"))
    if kind == "wait":
        return {"type": "wait", "seconds": rng.choice((1, 5))}
    return {
        "type": "task",
        "task_id": kind,
        "retries": rng.choice((0, 2)),
        "retry_delay": 1,
        "timeout": 30,
        "on_error": rng.choice(("stop", "continue")),
        "args": {"seconds": rng.choice((0.0, 1.0)), "count": 1},
    }
