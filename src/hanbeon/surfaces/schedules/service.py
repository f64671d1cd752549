"""Schedules and executions, as a transport asks for them: every method is one use case, refusals are HanbeonErrors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import uuid_utils

from hanbeon.clock import micros
from hanbeon.domain.job import check_size, is_id
from hanbeon.domain.lifecycle import State
from hanbeon.domain.schedules.definition import Definition
from hanbeon.domain.schedules.history import ExecutionType, FireOutcome
from hanbeon.errors import InvalidInput, TaskNotFound, UnknownTask
from hanbeon.service.explain import explain_job
from hanbeon.store.operations import executions, schedules
from hanbeon.store.operations import tasks as known
from hanbeon.store.operations.executions import ExecutionFilter, ExecutionRecord
from hanbeon.store.operations.lanes import LaneNumbers
from hanbeon.store.operations.queries import now_us
from hanbeon.store.operations.schedules import ScheduleRecord
from hanbeon.store.operations.tasks import KnownTask
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules import body, schemas
from hanbeon.surfaces.schedules.preview import PREVIEW_MOST, check_n, preview_request, previewed
from hanbeon.surfaces.schedules.serializers import Serializer
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus, states_of
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.service import SurfaceApp
from hanbeon.surfaces.validation import page_size, place, table, text
from hanbeon.tasks.options import did_you_mean, one_of
from hanbeon.tasks.task_settings import settings_of

LOCAL = "local"


class Schedules:
    """The tasks, schedules and executions of one App."""

    def __init__(self, app: SurfaceApp) -> None:
        self._app = app

    # Tasks

    async def tasks(self, *, cursor: str | None = None, limit: int = 100) -> schemas.TaskPage:
        """Every task that somebody has registered, by name; go on with the page's `next_cursor`."""
        size = page_size(limit)
        after = None if cursor is None else text(cursor, "cursor")
        found = await self._store.read(lambda tx: known.tasks(tx, after, None, size + 1))
        live = await self._live()
        items = [self._views.task(each, live.get(each.name, 0)) for each in found[:size]]
        return schemas.TaskPage(items=items, next_cursor=items[-1].task_id if len(found) > size else None)

    async def task(self, task_id: str) -> schemas.Task:
        name = text(task_id, "task_id")
        found = await self._store.read(lambda tx: known.tasks(tx, None, name))
        if not found:
            raise TaskNotFound(name)
        return self._views.task(found[0], (await self._live()).get(name, 0))

    # Executions

    async def run(
        self, task_id: str, told: Any = None, *, by: str = LOCAL, execution_id: str | None = None
    ) -> schemas.Execution:
        """Run a task now: `{args?}`. Refused while an execution of it is unfinished, whoever asked for that one."""
        name = text(task_id, "task_id")
        given = table({} if told is None else told, "a manual run", ("args",))
        args = self._packed(name, body.args_of(given.get("args")))
        new_id = execution_id or str(uuid_utils.uuid7())
        await self._know(name)
        store = self._store

        async def make(tx: Tx) -> tuple[LaneNumbers, ExecutionRecord]:
            lanes = await executions.run_now(tx, store.book, name, args, new_id, by)
            return lanes, await executions.execution(tx, new_id)  # As it was made, not as a quick worker leaves it.

        lanes, made = await store.write(make)
        for lane, number in lanes:
            store.book.note(lane, number)
        return self._views.execution(made)

    async def executions(
        self,
        *,
        task_id: str | None = None,
        status: Sequence[str] | str | None = None,
        type: str | None = None,
        schedule_id: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> schemas.ExecutionPage:
        """The newest first; go on with the page's `next_cursor`."""
        filter = ExecutionFilter(
            task=None if task_id is None else text(task_id, "task_id"),
            states=None if status is None else states_of([status] if isinstance(status, str) else status, "status"),
            type=None if type is None else ExecutionType(one_of(type, list(ExecutionType), "type")),
            schedule_id=None if schedule_id is None else _uuid(schedule_id, "schedule_id"),
        )
        size = page_size(limit)
        before = place(cursor) or None
        found = await self._store.read(lambda tx: executions.executions(tx, filter, before, size + 1))
        after = str(found[size - 1].job.seq) if len(found) > size else None
        items = [self._views.execution(each) for each in found[:size]]
        return schemas.ExecutionPage(items=items, next_cursor=after)

    async def execution(self, execution_id: str) -> schemas.Execution:
        found = await self._store.read(lambda tx: executions.execution(tx, execution_id))
        return self._views.execution(found)

    async def explain(self, execution_id: str) -> Explanation:
        """Why it is not running: every time, pause, full slot with its holders, missing worker; or why it failed."""
        await self.execution(execution_id)
        found = await explain_job(self._store, execution_id, micros(self._app.settings.lease))
        return self._views.explanation(found)

    async def cancel(self, execution_id: str) -> schemas.CancelAnswer:
        """Cancel an execution; `stopping` while its work is being stopped."""
        await self.execution(execution_id)
        state = await self._store.cancel(execution_id)
        execution = await self.execution(execution_id)
        # Its work may have stopped since it was asked to.
        stopping = state is State.RUNNING and execution.status is ExecutionStatus.RUNNING
        return schemas.CancelAnswer(execution=execution, stopping=stopping)

    # Schedules

    async def create(self, told: Any, *, by: str = LOCAL, schedule_id: str | None = None) -> schemas.Schedule:
        """Make a schedule: `{task_id, cron | run_at, name?, timezone?, args?, overlap?, misfire?, paused?, …}`."""
        fields = body.read_fields(told)
        task = body.task_of(fields)
        definition = self._definition(task, fields)
        new = ScheduleRecord(
            id=schedule_id or str(uuid_utils.uuid7()),
            name=body.name_of(fields),
            task_id=0,
            task=task,
            definition=definition,
            paused=body.paused_of(fields),
            considered_to=0,
            timed_since=0,
            created_by=by,
        )
        await self._know(task)

        async def add(tx: Tx) -> ScheduleRecord:
            found = await self._known(tx, task)
            body.check_times(definition.timing, await now_us(tx))
            return await schedules.add_schedule(tx, msgspec.structs.replace(new, task_id=found.id))

        return self._views.schedule(await self._store.write(add))

    async def list(
        self,
        *,
        task_id: str | None = None,
        paused: bool | None = None,
        name: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> schemas.SchedulePage:
        """In the order in which they were made; go on with the page's `next_cursor`."""
        size = page_size(limit)
        after = None if cursor is None else _uuid(cursor, "cursor")
        task = None if task_id is None else text(task_id, "task_id")
        named = None if name is None else text(name, "name")
        found = await self._store.read(
            lambda tx: schedules.schedules(tx, after, size + 1, task=task, paused=paused, name=named)
        )
        items = [self._views.schedule(each) for each in found[:size]]
        return schemas.SchedulePage(items=items, next_cursor=items[-1].id if len(found) > size else None)

    async def get(self, schedule_id: str) -> schemas.Schedule:
        return self._views.schedule(await self._record(schedule_id))

    async def change(self, schedule_id: str, told: Any, *, expected: int | None = None) -> schemas.Schedule:
        """Change what is given, and nothing else; null stands for the default. In force at once, on every instance.

        Nothing fires by the old definition any more. With other times it goes on from now.
        """
        given = body.read_fields(told)
        before = await self._record(schedule_id)
        task = body.task_of(given) if "task_id" in given else before.task
        await self._know(task)

        async def change(tx: Tx) -> ScheduleRecord:
            schedule = await schedules.lock_schedule(tx, schedule_id, expected)
            return await schedules.change_schedule(tx, schedule, await self._changed(tx, schedule, given))

        return self._views.schedule(await self._store.write(change))

    async def _changed(self, tx: Tx, schedule: ScheduleRecord, given: dict[str, Any]) -> ScheduleRecord:
        """A locked schedule as it is to be."""
        fields = body.merged(body.fields_of(schedule.definition, self._zone, "microseconds"), given)
        task = body.task_of(given) if "task_id" in given else schedule.task
        definition = self._definition(task, fields)
        if definition.timing != schedule.definition.timing:
            body.check_times(definition.timing, await now_us(tx))
        return msgspec.structs.replace(
            schedule,
            name=body.name_of(given) if "name" in given else schedule.name,
            task_id=(await self._known(tx, task)).id,
            task=task,
            definition=definition,
            paused=body.paused_of(given) if "paused" in given else schedule.paused,
        )

    async def pause(self, schedule_id: str) -> schemas.Schedule:
        """Fire no more until it is resumed. What falls due meanwhile is not caught up with."""
        return await self.change(schedule_id, {"paused": True})

    async def resume(self, schedule_id: str) -> schemas.Schedule:
        return await self.change(schedule_id, {"paused": False})

    async def delete(self, schedule_id: str, *, expected: int | None = None) -> None:
        """Its executions and its history stay until they are pruned."""
        await self._store.write(lambda tx: schedules.delete_schedule(tx, schedule_id, expected))

    # Times

    async def preview(self, schedule_id: str, *, n: int = 10) -> schemas.Preview:
        """The next fires that there are to be, also of a schedule that is paused."""
        check_n(n)
        schedule = await self._record(schedule_id)
        now = await self._store.read(now_us)
        return previewed(schedule.definition.timing, max(now, schedule.considered_to), n)

    async def preview_of(self, told: Any) -> schemas.Preview:
        """When a schedule would fire: `{cron | run_at, timezone?, from?, n?, …}`."""
        wanted = preview_request(told, self._zone)
        return wanted.answer(await self._store.read(now_us))

    async def fires(
        self, schedule_id: str, *, outcome: str | None = None, cursor: str | None = None, limit: int = 100
    ) -> schemas.FirePage:
        """What became of past fires, the newest first."""
        size = page_size(limit)
        before = place(cursor) or None
        wanted = None if outcome is None else FireOutcome(one_of(outcome, list(FireOutcome), "outcome"))
        await self._record(schedule_id)
        found = await self._store.read(lambda tx: schedules.fires(tx, schedule_id, before, size + 1, wanted))
        after = str(found[size - 1].fire_at) if len(found) > size else None
        return schemas.FirePage(items=[self._views.fire(each) for each in found[:size]], next_cursor=after)

    # What they share

    @property
    def _store(self) -> Store:
        return self._app.store

    @property
    def _zone(self) -> ZoneInfo:
        return self._app.settings.zone

    @property
    def _views(self) -> Serializer:
        return Serializer(self._zone)

    async def _record(self, schedule_id: str) -> ScheduleRecord:
        return await self._store.read(lambda tx: schedules.schedule_by_id(tx, schedule_id))

    async def _live(self) -> dict[str, int]:
        """How many live workers serve each task."""
        live: dict[str, int] = {}
        for each in await self._store.instances(micros(self._app.settings.lease)):
            for task in each.tasks if each.alive else ():
                live[task] = live.get(task, 0) + 1
        return live

    async def _know(self, task: str) -> None:
        """A task of this App is known, even before a worker of it has started."""
        if task not in self._app.tasks.names():
            return
        mine = {task: settings_of(self._app.tasks.get(task).options)}

        async def register(tx: Tx) -> None:
            if not await known.find_tasks(tx, mine):
                await known.register_tasks(tx, mine, LOCAL)

        if not await self._store.read(lambda tx: known.find_tasks(tx, mine)):
            await self._store.write(register)

    async def _known(self, tx: Tx, task: str) -> KnownTask:
        found = await known.find_tasks(tx, [task])
        if not found:
            names = [each.name for each in await known.tasks(tx, None, None, PREVIEW_MOST)] + self._app.tasks.names()
            hint = did_you_mean(task, names) or "; a task is known once a worker that has it has started"
            raise UnknownTask(f"there is no task {task[:80]!r}{hint}", field="task_id")
        return found[0]

    def _definition(self, task: str, fields: dict[str, Any]) -> Definition:
        definition = body.definition_of(fields, self._zone)
        return msgspec.structs.replace(definition, args=self._packed(task, body.args_of(fields.get("args"))))

    def _packed(self, task: str, args: dict[str, Any]) -> str:
        """Checked against the task where this App has it; elsewhere only the worker can tell."""
        if task in self._app.tasks.names():
            packed = self._app.tasks.get(task).signature.pack((), args)
        else:
            packed = body.args_text(args)
        check_size("args", packed, self._app.settings.max_payload_bytes)
        return packed


def _uuid(told: Any, field: str) -> str:
    if not is_id(told):
        raise InvalidInput("it is no id; use a UUID in lower-case text form", field=field)
    return str(told)
