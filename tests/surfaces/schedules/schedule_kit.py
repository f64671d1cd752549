"""Helpers for tests that run schedules step by step."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

from hanbeon import App, TaskError
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.testing import TestKit

START = dt.datetime(2027, 3, 1, 9, 0, 0, tzinfo=dt.timezone(dt.timedelta(hours=9)))


class Gates:
    """An event that tasks wait for, and a list of what has run."""

    def __init__(self) -> None:
        self.hold = asyncio.Event()
        self.ran: list[Any] = []


def add_tasks(app: App) -> Gates:
    gates = Gates()

    @app.task
    async def report(day: str = "") -> str:
        gates.ran.append(day)
        return day

    @app.task
    async def hold() -> None:
        gates.ran.append("hold")
        await gates.hold.wait()

    @app.task(retries=1, retry_delay=10)
    async def fail() -> None:
        raise TaskError("on purpose")

    return gates


class Timetable:
    """Schedules on a kit, with the tasks above."""

    def __init__(self, kit: TestKit, gates: Gates) -> None:
        self.kit, self.gates = kit, gates
        self.schedules = Schedules(kit.app)

    async def make(self, cron: str | None = "* * * * *", task_id: str = "report", **fields: Any) -> schemas.Schedule:
        return await self.schedules.create(task_id, cron=cron, **fields)

    async def pass_by(self, seconds: float, step: float | None = None) -> None:
        """Advance the clock and poll for due schedules every `step` seconds; once at the end without a step."""
        while seconds > 0:
            part = seconds if step is None else min(step, seconds)
            await self.kit.advance(part)
            seconds -= part
            await self.look()

    async def look(self) -> None:
        """Decide all due fires, without running anything."""
        await self.kit.worker.polls["fire"].run_once()
        while await self.kit.worker.polls["fire"].run_once() <= 0:
            pass

    async def run(self) -> None:
        """Run whatever may run, until nothing is left to do at this moment."""
        while await self.kit.tick():
            pass

    async def history(self, schedule: schemas.Schedule) -> list[tuple[str, str]]:
        """Return the fires, oldest first, as time of day and outcome."""
        page = await self.schedules.fires(schedule.id, limit=1_000)
        return [(fire.fire_at[11:19], fire.outcome.value) for fire in reversed(page.items)]

    async def outcomes(self, schedule: schemas.Schedule) -> dict[str, int]:
        found: dict[str, int] = {}
        for _, outcome in await self.history(schedule):
            found[outcome] = found.get(outcome, 0) + 1
        return found

    async def executions(self, **filter: Any) -> list[schemas.Execution]:
        """The oldest first."""
        return (await self.schedules.executions(limit=1_000, **filter)).items[::-1]
