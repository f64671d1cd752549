"""`app.schedules`: schedules and executions for Python, with keywords, datetimes, task objects and names."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from hanbeon.domain.job import is_id
from hanbeon.errors import ScheduleNotFound
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.fields import AnySchedule, AnyTask, Changes, key_of, name_of_task
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.surfaces.schedules.words import Fields, Moment, Times
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.service import SurfaceApp


class AppSchedules:
    """When the tasks of an App run by themselves, and the executions that come of it. The App must be open."""

    def __init__(self, app: SurfaceApp) -> None:
        self._service = Schedules(app)

    # Schedules

    async def create(self, task: AnyTask, **fields: Unpack[Fields]) -> schemas.Schedule:
        """Make a schedule: `create(report, cron=daily("09:00"), name="daily report", args={"day": "today"})`."""
        return await self._service.create({"task_id": name_of_task(task), **fields})

    async def list(
        self,
        *,
        task: AnyTask | None = None,
        paused: bool | None = None,
        name: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> schemas.SchedulePage:
        """In the order in which they were made; go on with the page's `next_cursor`."""
        task_id = None if task is None else name_of_task(task)
        return await self._service.list(task_id=task_id, paused=paused, name=name, cursor=cursor, limit=limit)

    async def get(self, schedule: AnySchedule) -> schemas.Schedule:
        """One schedule, by its id or its name."""
        key = key_of(schedule)
        if is_id(key):
            return await self._service.get(key)
        found = (await self._service.list(name=key, limit=1)).items
        if not found:
            raise ScheduleNotFound(key)
        return found[0]

    async def change(
        self, schedule: AnySchedule, *, expected: int | None = None, **changes: Unpack[Changes]
    ) -> schemas.Schedule:
        """Change what is named, and nothing else; None stands for the default. In force at once, on every instance.

        `expected` is the `version` that you have seen: if somebody was quicker, nothing is changed.
        """
        told: dict[str, Any] = dict(changes)
        if "task" in told:
            told["task_id"] = name_of_task(told.pop("task"))
        return await self._service.change(await self._id(schedule), told, expected=expected)

    async def pause(self, schedule: AnySchedule) -> schemas.Schedule:
        """Fire no more until it is resumed. What falls due meanwhile is not caught up with."""
        return await self._service.pause(await self._id(schedule))

    async def resume(self, schedule: AnySchedule) -> schemas.Schedule:
        """Let a paused schedule go on, from now."""
        return await self._service.resume(await self._id(schedule))

    async def delete(self, schedule: AnySchedule, *, expected: int | None = None) -> None:
        """Its executions and its history stay until they are pruned."""
        await self._service.delete(await self._id(schedule), expected=expected)

    async def preview(self, schedule: AnySchedule, *, n: int = 10) -> builtins.list[schemas.PreviewedFire]:
        """Its next fires, also if it is paused."""
        return (await self._service.preview(await self._id(schedule), n=n)).fires

    async def preview_of(
        self, *, start: Moment | None = None, n: int = 10, **times: Unpack[Times]
    ) -> builtins.list[schemas.PreviewedFire]:
        """When a schedule would fire: `preview_of(cron="0 9 * * *", timezone="Europe/Berlin")`. Nothing is made."""
        return (await self._service.preview_of({**times, "from": start, "n": n})).fires

    async def fires(
        self, schedule: AnySchedule, *, outcome: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> schemas.FirePage:
        """What became of past fires, the newest first."""
        return await self._service.fires(await self._id(schedule), outcome=outcome, cursor=cursor, limit=limit)

    # Executions

    async def run(self, task: AnyTask, args: Mapping[str, Any] | None = None) -> schemas.Execution:
        """Run a task now. Refused while an execution of it is unfinished, whoever asked for that one.

        An execution is a job: `app.job(execution.execution_id)` waits for its result.
        """
        return await self._service.run(name_of_task(task), {"args": args})

    async def executions(
        self,
        *,
        task: AnyTask | None = None,
        status: Sequence[str] | str | None = None,
        type: str | None = None,
        schedule: AnySchedule | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> schemas.ExecutionPage:
        """The newest first; go on with the page's `next_cursor`."""
        return await self._service.executions(
            task_id=None if task is None else name_of_task(task),
            status=status,
            type=type,
            schedule_id=None if schedule is None else await self._id(schedule),
            cursor=cursor,
            limit=limit,
        )

    async def execution(self, execution_id: str) -> schemas.Execution:
        """One execution, by its id."""
        return await self._service.execution(execution_id)

    async def cancel(self, execution_id: str) -> schemas.CancelAnswer:
        """Cancel an execution; `stopping` while its work is being stopped."""
        return await self._service.cancel(execution_id)

    async def explain(self, execution_id: str) -> Explanation:
        """Why it is not running: every time, pause, full slot with its holders, missing worker; or why it failed."""
        return await self._service.explain(execution_id)

    # Tasks

    async def tasks(self, *, cursor: str | None = None, limit: int = 100) -> schemas.TaskPage:
        """Every task that somebody has registered, by name; go on with the page's `next_cursor`."""
        return await self._service.tasks(cursor=cursor, limit=limit)

    async def task(self, task: AnyTask) -> schemas.Task:
        """What the database knows of a task, and how many live workers serve it."""
        return await self._service.task(name_of_task(task))

    async def _id(self, schedule: AnySchedule) -> str:
        key = key_of(schedule)
        return key if is_id(key) else (await self.get(key)).id
