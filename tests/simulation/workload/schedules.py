"""Schedules that are created, changed, paused and deleted while they fire."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

from hanbeon import Context
from hanbeon.errors import HanbeonError
from hanbeon.testing.simulation import Evidence, Simulation
from tests.simulation.workload.load import Book, Load, app

_MOST = 4


async def tick(ctx: Context, seconds: float = 0.0) -> None:
    await asyncio.sleep(seconds)


def _tick() -> Any:
    async def tick(ctx: Context, seconds: float = 0.0) -> None:
        await asyncio.sleep(seconds)

    return tick


for _number in range(_MOST):
    app.task(name=f"tick{_number}", retries=1, retry_delay=0.5)(_tick())


class Schedules(Load):
    operations: ClassVar[dict[str, int]] = {"schedule": 2, "change_schedule": 2, "run_now": 1}

    def __init__(self, book: Book) -> None:
        super().__init__(book)
        self._made: dict[str, dict[str, Any]] = {}
        self._number = 0
        self.oracles = (self.fires_are_kept_once,)

    async def carry_out(self, simulation: Simulation, kind: str, args: dict[str, Any], rng: random.Random) -> None:
        schedules = simulation.app.schedules
        if kind == "schedule" and self._number < _MOST:
            number, self._number = self._number, self._number + 1
            every = rng.choice((2, 5, 10))
            asked_at = simulation.world.now_us()
            made = await schedules.create(
                f"tick{number}",
                name=f"s{number}",
                cron=f"*/{every} * * * * *",
                overlap=rng.choice(("skip", "allow", "queue_one")),
                misfire=rng.choice(("coalesce", "skip", "all")),
                args={"seconds": rng.choice((0.0, 1.0, 4.0))},
            )
            self._made[made.id] = {"every": every, "changed": False, "since": (asked_at, simulation.world.now_us())}
        elif kind == "change_schedule" and self._made:
            schedule = rng.choice(sorted(self._made))
            self._made[schedule]["changed"] = True
            how = rng.choice(("pause", "resume", "change", "delete"))
            with contextlib.suppress(HanbeonError):
                if how == "change":
                    await schedules.change(schedule, cron=f"*/{rng.choice((3, 4))} * * * * *")
                else:
                    await getattr(schedules, how)(schedule)
        elif kind == "run_now":
            with contextlib.suppress(HanbeonError):
                await schedules.run(f"tick{rng.randrange(_MOST)}", {"seconds": 0.5})

    async def calm(self, simulation: Simulation) -> None:
        # Of one whose creation was not answered, the client knows nothing.
        for (schedule,) in simulation.evidence.rows("SELECT id FROM hanbeon_schedule WHERE NOT paused"):
            with contextlib.suppress(HanbeonError):
                await simulation.app.schedules.pause(schedule)

    def fires_are_kept_once(self, evidence: Evidence) -> Iterator[str]:
        if evidence.is_pruned:
            return
        rows = evidence.rows("SELECT schedule_id, scheduled_at FROM hanbeon_execution WHERE schedule_id IS NOT NULL")
        executions = Counter((schedule, at) for schedule, at in rows)
        for fire, count in executions.items():
            if count > 1:
                yield f"fire {fire} made {count} executions"
        if evidence.world.steps_of_clock or evidence.world.slept:
            return
        for schedule, considered_to in evidence.rows("SELECT id, considered_to FROM hanbeon_schedule"):
            made = self._made.get(schedule)
            if made is not None and not made["changed"]:
                yield from _history(evidence, schedule, considered_to, made, executions)


def _history(
    evidence: Evidence, schedule: str, considered_to: int, made: dict[str, Any], executions: Counter[tuple[str, int]]
) -> Iterator[str]:
    every, (asked_at, since) = made["every"] * 1_000_000, made["since"]
    rows = evidence.rows("SELECT fire_at, outcome, more FROM hanbeon_fire WHERE schedule_id = ?", schedule)
    history = {at: (outcome, more) for at, outcome, more in rows}
    expected = range((since // every + 1) * every, considered_to + 1, every)
    missing = [at for at in expected if at not in history]
    if missing and not any(more for _, more in history.values()):
        yield f"schedule {schedule}: {len(missing)} of {len(expected)} fires are not kept, first {missing[0]}"
    if wrong := [at for at in history if at % every or at <= asked_at]:
        yield f"schedule {schedule} fired at {wrong[:3]}"
    for at, (outcome, _) in history.items():
        if (outcome == "created") != ((schedule, at) in executions):
            yield f"fire {at} of {schedule} is {outcome}, with {executions[schedule, at]} executions"
