"""Schedules: their fires, overlaps and history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from hanbeon.testing.simulation import Evidence, Operation, Simulation
from tests.simulation.directed.case import Case, mutant
from tests.simulation.workload.load import Book


async def create(simulation: Simulation, book: Book, args: Mapping[str, Any]) -> None:
    await simulation.app.schedules.create(
        "tick0", name="s", cron="*/2 * * * * *", args={"seconds": args["seconds"]}, **args["options"]
    )


def _schedule(at: float, seconds: float = 0.1, **options: Any) -> Operation:
    return Operation(at, "create_schedule", {"seconds": seconds, "options": options})


def executions_are_alone(evidence: Evidence) -> Iterator[str]:
    """No body of the scheduled task begins before the one before has ended."""
    bodies = sorted((each for each in evidence.world.bodies if each.task == "tick0"), key=lambda each: each.begin)
    for older, newer in pairwise(bodies):
        if older.end is None or older.end > newer.begin:
            yield f"{older.job} and {newer.job} ran at {newer.begin:.2f}"


def every_fire_is_there(evidence: Evidence) -> Iterator[str]:
    """From the first fire to the last, none is missing or there twice, by plain arithmetic."""
    fires = Counter(at // 2_000_000 for (at,) in evidence.rows("SELECT fire_at FROM hanbeon_fire"))
    if not fires:
        yield "nothing was fired"
        return
    first, last = min(fires), max(fires)
    if missing := [at for at in range(first, last + 1) if fires[at] != 1]:
        yield f"{len(missing)} of {last - first + 1} fires are missing or doubled"
    if last - first < 4:
        yield f"only {last - first + 1} fires in {evidence.plan.until} s"


def every_fire_runs(evidence: Evidence) -> Iterator[str]:
    """Each line of the history that says that an execution was created has one that ran."""
    created = evidence.rows("SELECT count(*) FROM hanbeon_fire WHERE outcome = 'created'")[0][0]
    ran = len({body.job for body in evidence.world.bodies if body.task == "tick0"})
    if created != ran:
        yield f"{created} executions were created and {ran} ran"


_COMMANDS = {"create_schedule": create}
_RULES = [every_fire_is_there, every_fire_runs]

CASES = (
    Case(
        "A schedule fires while its task is busy",
        [_schedule(0.4, seconds=3.0, overlap="skip")],
        [
            mutant(
                "a fire does not look whether its task is busy",
                (
                    "surfaces/schedules/decide.py",
                    "elif definition.overlap is Overlap.ALLOW or (not busy and not waits):",
                    "elif True:",
                ),
                (
                    "surfaces/schedules/fire_rows.py",
                    "        alone=due.definition.overlap is not Overlap.ALLOW,\n",
                    "        alone=False,\n",
                ),
            ),
            mutant(
                "a line of the fires is lost",
                (
                    "surfaces/schedules/fire_rows.py",
                    "    await write_fires(tx, lines)\n",
                    "    await write_fires(tx, [line for line in lines if line.outcome is FireOutcome.CREATED])\n",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=[*_RULES, executions_are_alone],
        until=16.0,
    ),
    Case(
        "Both workers poll a schedule that lets its executions overlap",
        [_schedule(0.4, seconds=0.5, overlap="allow")],
        [
            mutant(
                "a schedule does not move on",
                (
                    "surfaces/schedules/statements.sql",
                    "SET considered_to = r.considered_to, next_fire_at = r.next_fire_at, due_at = r.due_at, last_fire_at",
                    "SET next_fire_at = r.next_fire_at, due_at = r.due_at, last_fire_at",
                ),
            ),
            mutant(
                "an execution is not recorded with its job",
                (
                    "store/operations/executions.py",
                    "    if rows and (tx.fast is None",
                    "    if rows[1:] and (tx.fast is None",
                ),
            ),
        ],
        commands=_COMMANDS,
        oracles=_RULES,
    ),
)
