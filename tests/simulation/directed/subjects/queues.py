"""Claims: limits, pauses, order, delays, wake-ups; and dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hanbeon.testing.simulation import Fault, FaultKind, Operation, Simulation
from tests.simulation.directed.case import Case, job, jobs, mutant
from tests.simulation.directed.rules import begins_after, ends_by, nothing_begins_between, order_is, states_are
from tests.simulation.workload.load import Book


async def pause(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    await simulation.app.pause("default")


async def resume(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    await simulation.app.resume("default")


_PAUSES = {"pause_default": pause, "resume_default": resume}
_KEYED = [job(seconds=1.0, queue="keyed", concurrency_key="a") for _ in range(4)]

CASES = (
    Case(
        "More jobs are ready than the limits of their queues admit",
        [
            jobs(0.4, *_KEYED, *[job(seconds=1.0, queue="limited") for _ in range(5)]),
            jobs(0.4, *[job(seconds=1.0, queue="roled", role="w") for _ in range(3)]),
        ],
        [
            mutant(
                "limits are not counted",
                ("store/operations/claim.py", 'row["concurrency_key"], row["running"])', 'row["concurrency_key"], 0)'),
            ),
            mutant(
                "the limit of a key is not kept",
                ("domain/limits.py", "            and _fits(self.keys[key], limits.for_key(key))\n", ""),
            ),
            mutant(
                "the limit of a role is not kept",
                ("domain/limits.py", "            and _fits(self.roles[role], limits.for_role(role))\n", ""),
            ),
            mutant(
                "a claim counts only what ran before it",
                ("domain/limits.py", "            usage.add(candidate.role, candidate.key)\n", ""),
            ),
        ],
    ),
    Case(
        "A queue is paused while jobs arrive",
        [
            Operation(0.4, "pause_default"),
            *[jobs(0.6 + number / 3, job(seconds=0.1)) for number in range(4)],
            Operation(6.0, "resume_default"),
        ],
        [
            mutant(
                "a pause is not seen by claims of a single lane",
                (
                    "store/fast/statements.sqlite.sql",
                    "WHERE q.id = ($1 >> 32) AND NOT q.paused AND NOT q.limited)\n    ORDER BY h.rank, h.seq LIMIT $2\n",
                    "WHERE q.id = ($1 >> 32) AND NOT q.limited)\n    ORDER BY h.rank, h.seq LIMIT $2\n",
                ),
                ("store/sql/claims.sql", "(NOT q.paused AND l.task", "(l.task"),
            )
        ],
        commands=_PAUSES,
        oracles=[nothing_begins_between(0.55, 6.0)],
    ),
    Case(
        "Urgent and important jobs overtake others",
        [
            jobs(0.4, job("stubborn", seconds=4.0)),
            jobs(3.0, job(priority=1), job("flaky", count=0, priority=-3), job("once", urgent=True)),
        ],
        [
            mutant(
                "the order of a queue is that of creation",
                ("domain/limits.py", "        return self.rank, self.seq\n", "        return 0, self.seq\n"),
            )
        ],
        settings={"concurrency": 1},
        oracles=[order_is("stubborn", "once", "flaky", "plain")],
        workers=1,
    ),
    Case(
        "A job is to start later",
        [jobs(0.4, job("plain", delay=5.0), job("once", delay=3.0))],
        [
            mutant(
                "delays are ignored",
                (
                    "store/sql/jobs.sql",
                    "CASE WHEN r.blocked IS NULL AND coalesce(r.run_at, n.now + coalesce(r.delay, 0)) <= n.now THEN",
                    "CASE WHEN r.blocked IS NULL THEN",
                ),
            ),
            mutant(
                "due jobs are never promoted",
                ("store/operations/promote.py", "(await promote_these(tx, lanes, due) if due else 0)", "0"),
            ),
        ],
        oracles=[begins_after("plain", 5.4), begins_after("once", 3.4), ends_by(9.0)],
    ),
    Case(
        "Wake-ups are lost for as long as jobs arrive",
        [jobs(1.0 + number, job(seconds=0.1)) for number in range(5)],
        [
            mutant(
                "claims rely on wake-ups",
                (
                    "engine/claim.py",
                    "        return self._settings.poll * chance.uniform(0.8, 1.2)\n",
                    "        return 1e6\n",
                ),
            )
        ],
        [Fault(at=0.5, kind=FaultKind.DEAFEN, seconds=11.0)],
        oracles=[ends_by(9.0)],
    ),
    Case(
        "Wake-ups start jobs long before the next poll",
        [jobs(1.0 + number, job(seconds=0.01)) for number in range(5)],
        [
            mutant(
                "hints wake no claim",
                ("engine/pool.py", "            each.wake()\n", "            pass\n"),
            )
        ],
        settings={"poll": 30.0},
        oracles=[ends_by(10.0)],
    ),
    Case(
        "A job depends on several, which end at different times",
        [
            jobs(
                0.4,
                job(seconds=0.5),
                job(seconds=2.0),
                job(seconds=4.0),
                job(after=[0, 1, 2]),
                job(after=[3]),
            )
        ],
        [
            mutant(
                "dependents are freed too early",
                ("store/sql/dependencies.sqlite.sql", "u.dependencies = m.met", "u.dependencies <= m.met + 1"),
            ),
            mutant(
                "dependents are never freed",
                ("store/sql/dependencies.sqlite.sql", "u.dependencies = m.met", "u.dependencies < m.met"),
            ),
            mutant(
                "a dependency is not counted down",
                ("store/operations/dependencies.py", '    await tx.fetch("decrement_unmet", seqs)\n', ""),
            ),
        ],
        settings={"concurrency": 8},
    ),
    Case(
        "A dependency fails: what waits for it fails with it, where that was asked for",
        [
            jobs(
                0.4,
                job("flaky", count=9),
                job("once", after=[0], on_dependency_failure="fail"),
                job("stubborn", after=[1], on_dependency_failure="fail"),
            )
        ],
        [
            mutant(
                "dependents do not fail with what they depend on",
                (
                    "store/operations/complete.py",
                    "        await fail_dependents(tx, lanes, hopeless)\n",
                    "        pass\n",
                ),
            )
        ],
        oracles=[states_are(flaky="failed", once="failed", stubborn="failed")],
        until=20.0,
    ),
)
