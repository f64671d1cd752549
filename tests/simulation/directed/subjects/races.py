"""Races between statements of two transactions, which only PostgreSQL has: SQLite admits one writer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any

from hanbeon.testing.simulation import Operation, Simulation
from tests.simulation.directed.case import Case, job, jobs, mutant
from tests.simulation.directed.rules import nothing_is_lost
from tests.simulation.directed.subjects.schedules import create, every_fire_is_there, every_fire_runs
from tests.simulation.stores import POSTGRES
from tests.simulation.workload.jobs import plain
from tests.simulation.workload.load import Book


async def follow(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    """Enqueue a job and then, about when it ends, one that depends on it."""
    rng = random.Random(args["rng"])
    first = plain.call(seconds=0.0)
    await book.enqueue(simulation.app, [first], [1])
    await asyncio.sleep(rng.random() * 0.006)
    await book.enqueue(simulation.app, [plain.call(seconds=0.0).set(after=[first])], [1])


_KEYED = [job(seconds=0.2, queue="keyed", concurrency_key="a") for _ in range(4)]

CASES = (
    Case(
        "Two workers claim from a limited queue at once",
        [jobs(0.5 + 0.7 * number, *_KEYED) for number in range(3)],
        [
            mutant(
                "the row of a limited queue is not locked before its jobs are counted",
                ("store/sql/claims.sql", "ORDER BY q.id @lock\n", "ORDER BY q.id\n"),
            ),
            mutant(
                "jobs are counted in the statement before the lock",
                (
                    "store/operations/claim.py",
                    "    limits, streamed = await _lock_limited(tx,",
                    '    early = await _count_running(tx, limits, "running_counts")\n'
                    "    limits, streamed = await _lock_limited(tx,",
                ),
                (
                    "store/operations/claim.py",
                    '    usage = await _count_running(tx, limits, "slots_taken" if streamed else "running_counts")\n',
                    "    usage = early\n",
                ),
            ),
        ],
        until=4.0,
        variations=1,
        store=POSTGRES,
    ),
    Case(
        "A job ends while another one that depends on it is being created",
        [Operation(0.5 + 0.2 * number, "follow", {"rng": number}) for number in range(16)],
        [
            mutant(
                "dependencies are not locked until their edges are written",
                (
                    "store/sql/jobs.sql",
                    "WHERE @id_in(j; $1)\nORDER BY j.seq\n@share\n",
                    "WHERE @id_in(j; $1)\nORDER BY j.seq\n",
                ),
            ),
        ],
        commands={"follow": follow},
        until=4.0,
        variations=1,
        store=POSTGRES,
    ),
    Case(
        "Several workers look for schedules that are due at once",
        [Operation(0.4, "create_schedule", {"seconds": 0.1, "options": {"overlap": "allow"}})],
        [
            mutant(
                "schedules that are due are not locked",
                (
                    "surfaces/schedules/statements.sql",
                    "WHERE s.due_at <= (SELECT hanbeon.now())\nORDER BY s.due_at LIMIT $1 @lock_skip\n",
                    "WHERE s.due_at <= (SELECT hanbeon.now())\nORDER BY s.due_at LIMIT $1\n",
                ),
            ),
        ],
        commands={"create_schedule": create},
        oracles=[every_fire_is_there, every_fire_runs, nothing_is_lost],
        workers=3,
        until=11.0,
        variations=1,
        store=POSTGRES,
    ),
)
