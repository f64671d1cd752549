"""Maintenance: counts that are folded, and rows that are pruned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.testing.simulation import Operation, Simulation
from tests.simulation.directed.case import Case, job, jobs, mutant
from tests.simulation.workload.load import Book
from tests.simulation.workload.retention import RETENTION

_PRUNE = "store/operations/prune.py"
_TALLIES = "store/operations/tallies.py"


async def look_up(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Check that the jobs of this call are all there."""
    there = {record.id for record in await simulation.app.jobs()}
    for number in args["numbers"]:
        if (job_id := book.known()[number]) not in there:
            simulation.find("jobs are kept as long as they are needed", f"{job_id} is gone")


CASES = (
    Case(
        "Events are folded into the counts while jobs go on ending",
        [jobs(0.4 + 1.1 * number, job(seconds=0.3), job("flaky", count=1)) for number in range(8)],
        [
            mutant(
                "a fold leaves out its last batch",
                (
                    _TALLIES,
                    "    for batch in batches:\n        for queue, delta",
                    "    for batch in batches[:-1]:\n        for queue, delta",
                ),
            ),
            mutant(
                "a batch that was folded is folded again",
                (_TALLIES, '["first_id"] + batches[-1]["count"] - 1)\n', '["first_id"] - 1)\n'),
            ),
        ],
    ),
    Case(
        "Jobs end long before one that depends on the first, and are pruned when they may be",
        [
            jobs(0.4, job(), job("flaky", count=1), job(after=[0], delay=80.0)),
            Operation(50.0, "look_up", {"numbers": [0, 1]}),
            Operation(76.0, "look_up", {"numbers": [0, 2]}),
        ],
        [
            mutant(
                "jobs are pruned before their time",
                (_PRUNE, "    older_than_us += lag_us\n", "    older_than_us = lag_us\n"),
            ),
            mutant(
                "a job is pruned although another one depends on it",
                (_PRUNE, "        jobs = [seq for seq in jobs if seq not in needed]\n", ""),
                (
                    "store/dialect.py",
                    'f"WHERE d.seq = e.dependent) IN ({quoted(state for state in State if state in UNFINISHED)}) LIMIT 1',
                    "\"WHERE d.seq = e.dependent) IN ('none') LIMIT 1",
                ),
            ),
            mutant(
                "attempts of pruned jobs stay",
                (_PRUNE, '    await tx.fetch("prune_attempts", body)\n', ""),
            ),
            mutant(
                "pruned jobs are counted for ever",
                (
                    _PRUNE,
                    '    await _emit(tx, lanes, await tx.fetch("prune_jobs", body))\n',
                    '    await tx.fetch("prune_jobs", body)\n',
                ),
            ),
            mutant(
                "nothing is pruned",
                (_PRUNE, "    if jobs:\n        jobs, chunks", "    if False:\n        jobs, chunks"),
            ),
        ],
        settings=RETENTION,
        commands={"look_up": look_up},
        until=90.0,
    ),
)
