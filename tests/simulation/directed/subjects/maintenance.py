"""Maintenance: counts that are folded, and rows that are pruned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hanbeon.testing.simulation import Evidence, Operation, Simulation
from tests.simulation.directed.case import Case, job, jobs, mutant
from tests.simulation.workload.load import Book

_RETENTION = 60.0
_PRUNE_EVERY = 5.0
_PRUNE = "store/operations/prune.py"
_TALLIES = "store/operations/tallies.py"


async def look_up(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Check that the jobs of this call are all there."""
    there = {record.id for record in await simulation.app.jobs()}
    for number in args["numbers"]:
        if (job_id := book.known()[number]) not in there:
            simulation.find("jobs are kept as long as they are needed", f"{job_id} is gone")


def old_jobs_are_gone(evidence: Evidence) -> Iterator[str]:
    oldest = evidence.world.now_us() - round((_RETENTION + 2 * _PRUNE_EVERY) * 1e6)
    for each in evidence.jobs.values():
        if each.finished_at is not None and each.finished_at < oldest:
            yield f"{each.id} ended {(evidence.world.now_us() - each.finished_at) / 1e6:.1f} s ago"


def rows_go_with_their_job(evidence: Evidence) -> Iterator[str]:
    for each in evidence.attempts:
        if each.seq not in evidence.by_seq:
            yield f"attempt {each.attempt} of job {each.seq}, which is gone"


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
        settings={"retention": _RETENTION, "prune_every": _PRUNE_EVERY},
        commands={"look_up": look_up},
        oracles=[old_jobs_are_gone, rows_go_with_their_job],
        until=90.0,
    ),
)
