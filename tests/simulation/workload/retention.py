"""Rows that are past their retention are deleted, with all that belongs to them, while everything else goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import ClassVar

from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.load import Book, Load

RETENTION = {"retention": 60.0, "prune_every": 5.0}


class Retention(Load):
    operations: ClassVar[dict[str, int]] = {}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self.oracles = (old_jobs_are_gone, rows_go_with_their_job)

    async def finish(self, simulation: Simulation) -> None:
        if simulation.evidence.is_pruned:
            # Long enough for the last jobs to be due, or most seeds would delete nothing.
            await asyncio.sleep(_longest(simulation.evidence))


def _longest(evidence: Evidence) -> float:
    settings = evidence.plan.settings
    return float(settings["retention"] + 2 * settings["prune_every"])


def old_jobs_are_gone(evidence: Evidence) -> Iterator[str]:
    if not evidence.is_pruned or evidence.world.slept:
        return  # Retention believes a jump of the clock after a day.
    oldest = evidence.world.now_us() - round(_longest(evidence) * 1e6)
    edges = "SELECT e.dependency FROM hanbeon_edge AS e JOIN hanbeon_job AS d ON d.seq = e.dependent"
    needed = {seq for (seq,) in evidence.rows(f"{edges} WHERE d.state IN ('pending', 'ready', 'running')")}
    for each in evidence.jobs.values():
        if each.finished_at is not None and each.finished_at < oldest and each.seq not in needed:
            yield f"{each.id} ended {(evidence.world.now_us() - each.finished_at) / 1e6:.1f} s ago"


def rows_go_with_their_job(evidence: Evidence) -> Iterator[str]:
    for each in evidence.attempts:
        if each.seq not in evidence.by_seq:
            yield f"attempt {each.attempt} of job {each.seq}, which is gone"
