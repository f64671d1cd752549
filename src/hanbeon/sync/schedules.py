"""`app.schedules`, blocking: each coroutine of `AppSchedules` has its twin here, with the same name and parameters."""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, Unpack

from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.api import AppSchedules
from hanbeon.surfaces.schedules.fields import AnySchedule, AnyTask, Changes
from hanbeon.surfaces.schedules.words import Fields, Moment, Times
from hanbeon.surfaces.schema import Explanation
from hanbeon.sync.background import Background

T = TypeVar("T")


class SyncSchedules:
    """When the tasks of an App run by themselves, and the executions that come of it."""

    def __init__(self, background: Background) -> None:
        self._background = background

    def _run(self, work: Callable[[AppSchedules], Awaitable[T]]) -> T:
        return self._background.run(lambda app: work(app.schedules))

    # Schedules

    def create(self, task: AnyTask, **fields: Unpack[Fields]) -> schemas.Schedule:
        """Make a schedule: `create(report, cron=daily("09:00"), name="daily report", args={"day": "today"})`."""
        return self._run(lambda it: it.create(task, **fields))

    def list(
        self,
        *,
        task: AnyTask | None = None,
        paused: bool | None = None,
        name: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> schemas.SchedulePage:
        """In the order in which they were made; go on with the page's `next_cursor`."""
        return self._run(lambda it: it.list(task=task, paused=paused, name=name, cursor=cursor, limit=limit))

    def get(self, schedule: AnySchedule) -> schemas.Schedule:
        """One schedule, by its id or its name."""
        return self._run(lambda it: it.get(schedule))

    def change(
        self, schedule: AnySchedule, *, expected: int | None = None, **changes: Unpack[Changes]
    ) -> schemas.Schedule:
        """Change what is named, and nothing else; None stands for the default. In force at once, on every instance.

        `expected` is the `version` that you have seen: if somebody was quicker, nothing is changed.
        """
        return self._run(lambda it: it.change(schedule, expected=expected, **changes))

    def pause(self, schedule: AnySchedule) -> schemas.Schedule:
        """Fire no more until it is resumed. What falls due meanwhile is not caught up with."""
        return self._run(lambda it: it.pause(schedule))

    def resume(self, schedule: AnySchedule) -> schemas.Schedule:
        """Let a paused schedule go on, from now."""
        return self._run(lambda it: it.resume(schedule))

    def delete(self, schedule: AnySchedule, *, expected: int | None = None) -> None:
        """Its executions and its history stay until they are pruned."""
        self._run(lambda it: it.delete(schedule, expected=expected))

    def preview(self, schedule: AnySchedule, *, n: int = 10) -> builtins.list[schemas.PreviewedFire]:
        """Its next fires, also if it is paused."""
        return self._run(lambda it: it.preview(schedule, n=n))

    def preview_of(
        self, *, start: Moment | None = None, n: int = 10, **times: Unpack[Times]
    ) -> builtins.list[schemas.PreviewedFire]:
        """When a schedule would fire: `preview_of(cron="0 9 * * *", timezone="Europe/Berlin")`. Nothing is made."""
        return self._run(lambda it: it.preview_of(start=start, n=n, **times))

    def fires(
        self, schedule: AnySchedule, *, outcome: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> schemas.FirePage:
        """What became of past fires, the newest first."""
        return self._run(lambda it: it.fires(schedule, outcome=outcome, cursor=cursor, limit=limit))

    # Executions

    def run(self, task: AnyTask, args: Mapping[str, Any] | None = None) -> schemas.Execution:
        """Run a task now. Refused while an execution of it is unfinished, whoever asked for that one.

        An execution is a job: `jobs.job(execution.execution_id)` waits for its result.
        """
        return self._run(lambda it: it.run(task, args))

    def executions(
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
        return self._run(
            lambda it: it.executions(task=task, status=status, type=type, schedule=schedule, cursor=cursor, limit=limit)
        )

    def execution(self, execution_id: str) -> schemas.Execution:
        """One execution, by its id."""
        return self._run(lambda it: it.execution(execution_id))

    def cancel(self, execution_id: str) -> schemas.CancelAnswer:
        """Cancel an execution; `stopping` while its work is being stopped."""
        return self._run(lambda it: it.cancel(execution_id))

    def explain(self, execution_id: str) -> Explanation:
        """Why it is not running: every time, pause, full slot with its holders, missing worker; or why it failed."""
        return self._run(lambda it: it.explain(execution_id))

    # Tasks

    def tasks(self, *, cursor: str | None = None, limit: int = 100) -> schemas.TaskPage:
        """Every task that somebody has registered, by name; go on with the page's `next_cursor`."""
        return self._run(lambda it: it.tasks(cursor=cursor, limit=limit))

    def task(self, task: AnyTask) -> schemas.Task:
        """What the database knows of a task, and how many live workers serve it."""
        return self._run(lambda it: it.task(task))
