"""Clients that make, change, pause, resume and delete schedules, and run tasks by hand, at random and all at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from hanbeon import App
from hanbeon.errors import ExecutionUnfinished, ScheduleNotFound
from hanbeon.store.operations.queries import now_us
from hanbeon.surfaces.schedules.service import Schedules
from tests.storm.journal import Journal
from tests.storm.schedules.tasks import ALONE, CROWD

EACH_SECOND = "* * * * * *"
CRONS = (EACH_SECOND, EACH_SECOND, "*/2 * * * * *", "1-59/2 * * * * *", "*/3 * * * * *", "0-29 * * * * *|* * * * *")
_OVERLAPS = ("skip", "skip", "queue_one")
_MISFIRES = ("coalesce", "skip", "all")


@dataclass
class SharedState:
    """State that all clients of a run share."""

    tasks: list[str]
    journal: Journal
    ids: list[str] = field(default_factory=list)
    asked_to_delete: dict[str, int] = field(default_factory=dict)
    """When a client had read the database's clock, just before it asked for the deletion."""
    done: Counter[str] = field(default_factory=Counter)
    """Counts of accepted and refused operations by name."""
    labels: int = 0


class Client:
    """One client, with connections of its own."""

    def __init__(self, app: App, shared: SharedState, rng: random.Random) -> None:
        self._schedules, self._store = Schedules(app), app.store
        self._shared, self._rng = shared, rng

    async def make(self, cron: str | None = None) -> None:
        task = self._rng.choice(self._shared.tasks)
        made = await self._schedules.create(task=task, **self._body(task), cron=cron or self._cron())
        self._shared.ids.append(made.id)

    async def act(self) -> None:
        """Apply a random operation to a random schedule, which others may be changing too."""
        actions: dict[Callable[[], Awaitable[None]], int] = {
            self._create: 2,
            self._change_times: 6,
            self._change_the_rest: 6,
            self._pause: 4,
            self._resume: 6,
            self._delete: 2,
            self._run: 3,
        }
        (action,) = self._rng.choices(list(actions), list(actions.values()))
        name = action.__name__.strip("_")
        try:
            await action()
        except (ScheduleNotFound, ExecutionUnfinished) as error:
            name += f": {error.code}"
        self._shared.done[name] += 1

    async def pause_all(self) -> None:
        for schedule_id in set(self._shared.ids) - self._shared.asked_to_delete.keys():
            await self._schedules.pause(schedule_id)

    async def resume_all(self) -> None:
        for schedule_id in set(self._shared.ids) - self._shared.asked_to_delete.keys():
            await self._schedules.resume(schedule_id)

    async def _create(self) -> None:
        await self.make()

    async def _change_times(self) -> None:
        await self._schedules.change(self._any(), cron=self._cron(), args=self._args())

    async def _change_the_rest(self) -> None:
        schedule = await self._schedules.get(self._any())
        await self._schedules.change(schedule.id, **self._body(schedule.task_id))

    async def _pause(self) -> None:
        await self._schedules.pause(self._any())

    async def _resume(self) -> None:
        await self._schedules.resume(self._any())

    async def _delete(self) -> None:
        schedule_id = self._any()
        asked_at = await self._store.read(now_us)
        await self._schedules.delete(schedule_id)
        self._shared.asked_to_delete[schedule_id] = asked_at

    async def _run(self) -> None:
        await self._schedules.run(self._rng.choice(self._shared.tasks), self._args())

    def _body(self, task: str) -> dict[str, Any]:
        overlap = "allow" if task.startswith(CROWD) else self._rng.choice(_OVERLAPS)
        assert task.startswith((ALONE, CROWD))
        return {"overlap": overlap, "misfire": self._rng.choice(_MISFIRES), "args": self._args()}

    def _args(self) -> dict[str, Any]:
        """No two definitions have the same."""
        self._shared.labels += 1
        pause = self._rng.choice((0.0, 0.01, 0.2, 1.2, 1.2))
        return {"label": f"definition {self._shared.labels}", "journal": str(self._shared.journal), "pause": pause}

    def _cron(self) -> str:
        return self._rng.choice(CRONS)

    def _any(self) -> str:
        return self._rng.choice(self._shared.ids)
