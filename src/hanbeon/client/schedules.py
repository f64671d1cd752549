"""Tasks, executions and schedules for both clients: each method is a route and the values that fill it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from msgspec import UNSET, UnsetType

from hanbeon.client.calls import wait
from hanbeon.client.flow import Flow, Response
from hanbeon.client.methods import Async, Resource, Sync, asks, pages, runs
from hanbeon.client.route import Fill, Route, nothing, shape
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.keywords import NamedSettingsFields, TimesFields
from hanbeon.surfaces.schedules.schemas import Moment
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus
from hanbeon.surfaces.schema import Explanation

_TASKS = "/api/tasks"
_TASK = f"{_TASKS}/{{task_id}}"
_EXECUTIONS = "/api/executions"
_EXECUTION = f"{_EXECUTIONS}/{{id}}"
_SCHEDULES = "/api/schedules"
_SCHEDULE = f"{_SCHEDULES}/{{id}}"
_ENDED = frozenset({ExecutionStatus.SUCCESS, ExecutionStatus.FAILED})

Status = ExecutionStatus | str
_execution_of = shape(schemas.Execution)
_schedule_of = shape(schemas.Schedule)
_GET_EXECUTION = Route("GET", _EXECUTION, _execution_of)


class Change(NamedSettingsFields, total=False):
    """Changes of a schedule; fields that are left out stay."""

    task_id: str


def _cancelled(answer: Response) -> schemas.CancelAnswer:
    return schemas.CancelAnswer(execution=_execution_of(answer), stopping=answer.status == 202)


class TasksCalls(Resource):
    """All registered tasks."""

    @pages(Route("GET", _TASKS, shape(schemas.TaskPage)))
    def list(self, *, limit: int | None = None) -> Fill:
        """Iterate over them; `limit` is the size of a page."""
        return Fill(query={"limit": limit})


class TaskCalls(Resource):
    """One task."""

    @asks(Route("GET", _TASK, shape(schemas.Task)))
    def get(self) -> Fill:
        """The task, and how many workers serve it."""
        return Fill()

    @asks(Route("POST", f"{_TASK}/executions", _execution_of, creates=True))
    def run(self, *, args: Mapping[str, Any] | UnsetType = UNSET, idempotency_key: str | None = None) -> Fill:
        """Run it now, once for each key; `Conflict` while it has an unfinished execution."""
        return Fill(body={"args": args}, key=idempotency_key)


class ExecutionsCalls(Resource):
    """All executions."""

    @pages(Route("GET", _EXECUTIONS, shape(schemas.ExecutionPage)))
    def list(
        self,
        *,
        task_id: str | None = None,
        status: Status | Sequence[Status] | None = None,
        type: str | None = None,
        schedule_id: str | None = None,
        limit: int | None = None,
    ) -> Fill:
        """Iterate over them, newest first; `limit` is the size of a page."""
        query = {"task_id": task_id, "status": status, "type": type, "schedule_id": schedule_id, "limit": limit}
        return Fill(query=query)


class ExecutionCalls(Resource):
    """One execution."""

    @asks(_GET_EXECUTION)
    def get(self) -> Fill:
        """The execution as it is now."""
        return Fill()

    @asks(Route("GET", f"{_EXECUTION}/explain", shape(Explanation)))
    def explain(self) -> Fill:
        """Why it is not running."""
        return Fill()

    @asks(Route("POST", f"{_EXECUTION}/cancel", _cancelled, harmless=True))
    def cancel(self) -> Fill:
        """Cancel it; `stopping` means that its work is still being stopped."""
        return Fill()

    @runs(_GET_EXECUTION)
    def wait(self, *, timeout: float | None = None) -> Flow[schemas.Execution]:
        """Wait until the execution has succeeded or failed; raises if that takes longer than `timeout` seconds."""
        return wait(self._retry, _GET_EXECUTION, self._ids, Fill(), lambda found: found.status in _ENDED, timeout)


class SchedulesCalls(Resource):
    """All schedules."""

    @asks(Route("POST", _SCHEDULES, _schedule_of, creates=True))
    def create(
        self, task_id: str, *, idempotency_key: str | None = None, **definition: Unpack[NamedSettingsFields]
    ) -> Fill:
        """Create a schedule, once for each key; without one, once for each call."""
        return Fill(body={"task_id": task_id, **definition}, key=idempotency_key)

    @pages(Route("GET", _SCHEDULES, shape(schemas.SchedulePage)))
    def list(
        self,
        *,
        task_id: str | None = None,
        paused: bool | None = None,
        name: str | None = None,
        limit: int | None = None,
    ) -> Fill:
        """Iterate over them; `limit` is the size of a page."""
        return Fill(query={"task_id": task_id, "paused": paused, "name": name, "limit": limit})

    @asks(Route("POST", f"{_SCHEDULES}/preview", shape(schemas.Preview), harmless=True))
    def preview(
        self, *, start: Moment | UnsetType = UNSET, n: int | UnsetType = UNSET, **times: Unpack[TimesFields]
    ) -> Fill:
        """Preview the fires of a schedule from `start` on, which is now by default; creates nothing."""
        return Fill(body={"from": start, "n": n, **times})


class ScheduleCalls(Resource):
    """One schedule."""

    @asks(Route("GET", _SCHEDULE, _schedule_of))
    def get(self) -> Fill:
        """The schedule as it is now."""
        return Fill()

    @asks(Route("PATCH", _SCHEDULE, _schedule_of))
    def change(self, *, expected: int | None = None, **changes: Unpack[Change]) -> Fill:
        """Change the given fields. `expected`: the version last seen; if it has changed since, nothing is written."""
        return Fill(body=dict(changes), expected=expected)

    @asks(Route("DELETE", _SCHEDULE, nothing))
    def delete(self, *, expected: int | None = None) -> Fill:
        """Delete it; its executions stay until they are pruned."""
        return Fill(expected=expected)

    @asks(Route("POST", f"{_SCHEDULE}/pause", _schedule_of, harmless=True))
    def pause(self) -> Fill:
        """Stop firing until it is resumed."""
        return Fill()

    @asks(Route("POST", f"{_SCHEDULE}/resume", _schedule_of, harmless=True))
    def resume(self) -> Fill:
        """Resume with the next fire after now."""
        return Fill()

    @asks(Route("GET", f"{_SCHEDULE}/preview", shape(schemas.Preview)))
    def preview(self, *, n: int | None = None) -> Fill:
        """The next fires."""
        return Fill(query={"n": n})

    @pages(Route("GET", f"{_SCHEDULE}/fires", shape(schemas.FirePage)))
    def fires(self, *, outcome: str | None = None, limit: int | None = None) -> Fill:
        """Iterate over the outcomes of its fires, newest first; `limit` is the size of a page."""
        return Fill(query={"outcome": outcome, "limit": limit})


class Tasks(Sync, TasksCalls):
    """All tasks of a server."""


class Task(Sync, TaskCalls):
    """One task of a server."""


class Executions(Sync, ExecutionsCalls):
    """All executions of a server."""


class Execution(Sync, ExecutionCalls):
    """One execution of a server."""


class Schedules(Sync, SchedulesCalls):
    """All schedules of a server."""


class Schedule(Sync, ScheduleCalls):
    """One schedule of a server."""


class AsyncTasks(Async, TasksCalls):
    """All tasks of a server; every call is awaited."""


class AsyncTask(Async, TaskCalls):
    """One task of a server; every call is awaited."""


class AsyncExecutions(Async, ExecutionsCalls):
    """All executions of a server; every call is awaited."""


class AsyncExecution(Async, ExecutionCalls):
    """One execution of a server; every call is awaited."""


class AsyncSchedules(Async, SchedulesCalls):
    """All schedules of a server; every call is awaited."""


class AsyncSchedule(Async, ScheduleCalls):
    """One schedule of a server; every call is awaited."""
