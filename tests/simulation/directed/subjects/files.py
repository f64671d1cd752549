"""Configuration files that are reloaded."""

from __future__ import annotations

from collections.abc import Iterator

from hanbeon.testing.simulation import Evidence, Fault, FaultKind, Operation, Oracle
from tests.simulation.directed.case import Case, job, jobs, mutant


def at_once(queue: str, most: int, begin: float, end: float) -> Oracle:
    """Return the rule that exactly so many bodies of a queue ran at once at most, in this span."""

    def limits_follow_the_file(evidence: Evidence) -> Iterator[str]:
        changes = [(body.begin, 1) for body in evidence.world.bodies if body.queue == queue and body.begin >= begin]
        changes += [
            (body.end or end, -1) for body in evidence.world.bodies if body.queue == queue and body.begin >= begin
        ]
        running = seen = 0
        for _, change in sorted(each for each in changes if each[0] < end):
            running += change
            seen = max(seen, running)
        if seen != most:
            yield f"{seen} bodies of {queue} ran at once from {begin} to {end}, at most {most} were to"

    return limits_follow_the_file


_RELOADS = [Fault(at=5.1, kind=FaultKind.RELOAD, node=node) for node in (0, 1)]

CASES = (
    Case(
        "A file changes, and workers reload it in the middle of their work",
        [
            jobs(0.4, *[job(seconds=0.5, queue="filed") for _ in range(8)]),
            Operation(5.0, "edit_file", {"concurrency": 1, "limit": 5}),
            jobs(6.0, *[job(seconds=2.0, queue="default") for _ in range(6)]),
        ],
        [
            mutant(
                "a reload does not change what a worker runs at once",
                ("engine/worker.py", "            self.main.slots = self._settings.concurrency\n", ""),
            ),
            mutant(
                "a file is not read again",
                ("engine/source.py", "        if self._requested:\n", "        if False:\n"),
            ),
        ],
        _RELOADS,
        oracles=[at_once("filed", 2, 0.0, 5.0), at_once("default", 2, 5.2, 20.0)],
        until=8.0,
    ),
    Case(
        "A file raises the limit of its queue",
        [
            Operation(2.0, "edit_file", {"concurrency": 8, "limit": 5}),
            jobs(6.0, *[job(seconds=2.0, queue="filed") for _ in range(12)]),
        ],
        [
            mutant(
                "a reload does not declare the queues",
                (
                    "engine/source.py",
                    "declared = await self._store.write(lambda tx: declare_queues(tx, change.queues))",
                    "declared: list[Any] = []",
                ),
            ),
        ],
        _RELOADS,
        oracles=[at_once("filed", 5, 5.2, 30.0)],
        until=8.0,
    ),
)
