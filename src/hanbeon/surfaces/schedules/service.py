"""`app.schedules`: schedules, their fires, manual runs, executions and the tasks behind them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, Unpack

import msgspec

from hanbeon.clock import micros
from hanbeon.domain.job import NAME_LIMIT, is_id
from hanbeon.domain.lifecycle import State
from hanbeon.errors import TaskNotFound
from hanbeon.service.explain import explain_job
from hanbeon.store.operations import executions
from hanbeon.store.operations import tasks as known
from hanbeon.store.operations.executions import ExecutionFilter, ExecutionRecord
from hanbeon.store.operations.instances import instances
from hanbeon.store.operations.queries import now_us
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules import definitions, keywords, schemas
from hanbeon.surfaces.schedules import rows as schedules
from hanbeon.surfaces.schedules.definition import Definition
from hanbeon.surfaces.schedules.errors import ScheduleNotFound
from hanbeon.surfaces.schedules.preview import DEFAULT_COUNT, next_fires, plan_preview
from hanbeon.surfaces.schedules.references import AnySchedule, AnyTask, as_json, key_of_schedule, name_of_task
from hanbeon.surfaces.schedules.rows import ScheduleRecord
from hanbeon.surfaces.schedules.serializers import Serializer
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus, states_of
from hanbeon.surfaces.schema import Explanation, Name
from hanbeon.surfaces.service import LOCAL, NewId, Service, may_exist, page, random_id
from hanbeon.surfaces.validation import convert, given_fields, inside, validate
from hanbeon.tasks.task import registration_of

_PAGE_SIZE = 100


class Schedules(Service):
    """Schedules of an App's tasks, and their executions. The App must be open."""

    # Schedules

    async def create(
        self,
        task: AnyTask,
        *,
        by: str = LOCAL,
        new_id: NewId = random_id,
        **fields: Unpack[keywords.NamedSettingsFields],
    ) -> schemas.Schedule:
        """Create a schedule: `create(report, cron=daily("09:00"), name="daily report", args={"day": "today"})`."""
        new = validate(schemas.NewSchedule, self._json({"task": name_of_task(task), **fields}))
        given = given_fields(new)
        definition = self._definition(new.task, given)
        record = ScheduleRecord(
            id=new_id(0),
            name=given.get("name"),
            task_id=0,
            task=new.task,
            definition=definition,
            paused=bool(given.get("paused")),
            considered_to=0,
            timed_since=0,
            created_by=by,
        )
        await self._register(new.task)

        async def add(tx: Tx) -> ScheduleRecord:
            # Before anything is checked: the first request may have made it, and what it met may have changed.
            if may_exist(new_id) and (made := await schedules.find_schedule(tx, record.id)) is not None:
                return made
            found = await self._known_task(tx, new.task, "task_id")
            definitions.check_times(definition.timing, await now_us(tx))
            return await schedules.add_schedule(tx, msgspec.structs.replace(record, task_id=found.id))

        return await self._shown(await self._write(add))

    async def list(self, **query: Unpack[keywords.ScheduleQueryFields]) -> schemas.SchedulePage:
        """Schedules in the order of their creation; continue with the page's `next_cursor`."""
        filter = given_fields(validate(schemas.ScheduleQuery, self._json(query)))
        size = filter.pop("limit", _PAGE_SIZE)
        after = filter.pop("cursor", None)
        found = await self._read(lambda tx: schedules.schedules(tx, after, size, **filter))
        last = await self._read(lambda tx: schedules.last_executions(tx, [each.id for each in found.items]))
        return schemas.SchedulePage(
            items=[self._serializer.schedule(each, last.get(each.id)) for each in found.items],
            next_cursor=found.cursor(lambda schedule: schedule.id),
        )

    async def get(self, schedule: AnySchedule) -> schemas.Schedule:
        """One schedule, by its id or its name."""
        return await self._shown(await self._record(schedule))

    async def change(
        self,
        schedule: AnySchedule,
        *,
        expected: int | None = None,
        **changes: Unpack[keywords.ScheduleChangeFields],
    ) -> schemas.Schedule:
        """Change the given fields and no others; None stands for the default. In force at once, on every instance.

        `expected` is the `version` that you have seen: if it has changed since, nothing is written. No fire is created
        from the old definition any more. With other times the schedule continues from now.
        """
        given = given_fields(validate(schemas.ScheduleChange, self._json(changes)))
        before = await self._record(schedule)
        await self._register(given.get("task", before.task))

        async def change(tx: Tx) -> ScheduleRecord:
            locked = await schedules.lock_schedule(tx, before.id, expected)
            return await schedules.change_schedule(tx, locked, await self._changed(tx, locked, given))

        return await self._shown(await self._write(change))

    async def _changed(self, tx: Tx, schedule: ScheduleRecord, given: dict[str, Any]) -> ScheduleRecord:
        """A locked schedule with the changes applied."""
        fields = definitions.merged(definitions.fields_of(schedule.definition, self._zone, "microseconds"), given)
        task = given.get("task", schedule.task)
        definition = self._definition(task, fields)
        if definition.timing != schedule.definition.timing:
            definitions.check_times(definition.timing, await now_us(tx))
        return msgspec.structs.replace(
            schedule,
            name=given.get("name", schedule.name),
            task_id=(await self._known_task(tx, task, "task_id")).id,
            task=task,
            definition=definition,
            paused=bool(given.get("paused", schedule.paused)),
        )

    async def pause(self, schedule: AnySchedule) -> schemas.Schedule:
        """Stop firing until it is resumed. Fires that fall due in the meantime are not made up for."""
        return await self.change(schedule, paused=True)

    async def resume(self, schedule: AnySchedule) -> schemas.Schedule:
        """Resume a paused schedule, from now on."""
        return await self.change(schedule, paused=False)

    async def delete(self, schedule: AnySchedule, *, expected: int | None = None) -> None:
        """Delete a schedule. Its executions and its history stay until they are pruned."""
        schedule_id = await self._id(schedule)
        await self._write(lambda tx: schedules.delete_schedule(tx, schedule_id, expected))

    # Times

    async def preview(
        self, schedule: AnySchedule, **query: Unpack[keywords.PreviewQueryFields]
    ) -> builtins.list[schemas.PreviewedFire]:
        """The next fires of a schedule, paused or not."""
        n = given_fields(validate(schemas.PreviewQuery, query)).get("n", DEFAULT_COUNT)
        record = await self._record(schedule)
        now = await self._read(now_us)
        return next_fires(record.definition.timing, max(now, record.considered_to), n)

    async def preview_of(
        self, **request: Unpack[keywords.PreviewRequestFields]
    ) -> builtins.list[schemas.PreviewedFire]:
        """Preview a schedule's fires: `preview_of(cron="0 9 * * *", timezone="Europe/Berlin")`. Creates nothing."""
        plan = plan_preview(validate(schemas.PreviewRequest, self._json(request)), self._zone)
        return plan.fires(await self._read(now_us))

    async def fires(self, schedule: AnySchedule, **query: Unpack[keywords.FireQueryFields]) -> schemas.FirePage:
        """The outcomes of past fires, newest first."""
        filter = given_fields(validate(schemas.FireQuery, query))
        size, cursor, outcome = filter.get("limit", _PAGE_SIZE), filter.get("cursor"), filter.get("outcome")
        before = int(cursor) if cursor else None
        schedule_id = (await self._record(schedule)).id
        found = await self._read(lambda tx: schedules.fires(tx, schedule_id, before, size + 1, outcome))
        items, next_cursor = page(found, size, lambda fire: fire.fire_at)
        return schemas.FirePage(items=[self._serializer.fire(each) for each in items], next_cursor=next_cursor)

    # Executions

    async def run(
        self,
        task: AnyTask,
        args: Mapping[str, Any] | None = None,
        *,
        by: str = LOCAL,
        new_id: NewId = random_id,
    ) -> schemas.Execution:
        """Run a task now. Raises `ExecutionUnfinished` while it has an unfinished execution, scheduled or manual.

        An execution is a job: `app.job(execution.execution_id)` waits for its result.
        """
        name = _task_name(task)
        run = validate(schemas.ManualRun, {"args": args})
        packed = self._packed(name, run.args or {})
        execution_id = new_id(0)
        await self._register(name)
        store = self._store

        async def create(tx: Tx) -> ExecutionRecord:
            # The first request may have run it, and another execution may be unfinished by now.
            if may_exist(new_id) and (made := await executions.find_execution(tx, execution_id)) is not None:
                return made
            await executions.run_now(tx, store.lanes, name, packed, execution_id, by)
            # As it was created: a worker may change it a moment later.
            return await executions.execution(tx, execution_id)

        return self._serializer.execution(await self._write(create))

    async def executions(self, **query: Unpack[keywords.ExecutionQueryFields]) -> schemas.ExecutionPage:
        """Executions, newest first; continue with the page's `next_cursor`."""
        given: dict[str, Any] = self._json(query)
        if isinstance(given.get("status"), str):
            given["status"] = [given["status"]]
        if given.get("schedule") is not None and not is_id(given["schedule"]):
            given["schedule"] = await self._id(given["schedule"])
        filter = given_fields(validate(schemas.ExecutionQuery, given))
        size, cursor, status = filter.get("limit", _PAGE_SIZE), filter.get("cursor"), filter.get("status")
        wanted = ExecutionFilter(
            task=filter.get("task"),
            states=None if status is None else states_of(status),
            type=filter.get("type"),
            schedule_id=filter.get("schedule"),
        )
        before = int(cursor) if cursor else None
        found = await self._read(lambda tx: executions.executions(tx, wanted, before, size))
        return schemas.ExecutionPage(
            items=[self._serializer.execution(each) for each in found.items],
            next_cursor=found.cursor(lambda execution: execution.job.seq),
        )

    async def execution(self, execution_id: str) -> schemas.Execution:
        """One execution, by its id."""
        return self._serializer.execution(await self._read(lambda tx: executions.execution(tx, execution_id)))

    async def explain(self, execution_id: str) -> Explanation:
        """Explain why it is not running: every time, pause, full slot and its holders, no worker; or why it failed."""
        await self.execution(execution_id)
        found = await explain_job(self._store, execution_id, self._alive_within_us)
        return self._serializer.explanation(found)

    async def cancel(self, execution_id: str) -> schemas.CancelAnswer:
        """Cancel an execution; `stopping` while its work is being stopped."""
        await self.execution(execution_id)
        state = await self._store.cancel(execution_id)
        execution = await self.execution(execution_id)
        # Its work may have stopped in the meantime.
        stopping = state is State.RUNNING and execution.status is ExecutionStatus.RUNNING
        return schemas.CancelAnswer(execution=execution, stopping=stopping)

    # Tasks

    async def tasks(self, **query: Unpack[keywords.TaskQueryFields]) -> schemas.TaskPage:
        """Every registered task, by name; continue with the page's `next_cursor`."""
        filter = given_fields(validate(schemas.TaskQuery, query))
        size, after = filter.get("limit", _PAGE_SIZE), filter.get("cursor")
        found = await self._read(lambda tx: known.tasks(tx, after, None, size + 1))
        live = await self._live()
        items, next_cursor = page(found, size, lambda task: task.name)
        return schemas.TaskPage(
            items=[self._serializer.task(each, live.get(each.name, 0)) for each in items], next_cursor=next_cursor
        )

    async def task(self, task: AnyTask) -> schemas.Task:
        """A registered task, and how many live workers serve it."""
        name = _task_name(task)
        found = await self._read(lambda tx: known.tasks(tx, None, name))
        if not found:
            raise TaskNotFound(name)
        return self._serializer.task(found[0], (await self._live()).get(name, 0))

    # Shared helpers

    @property
    def _serializer(self) -> Serializer:
        return Serializer(self._zone, self._stored_json)

    async def _shown(self, record: ScheduleRecord) -> schemas.Schedule:
        last = await self._read(lambda tx: schedules.last_executions(tx, [record.id]))
        return self._serializer.schedule(record, last.get(record.id))

    def _json(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return as_json(fields, self._zone_of_naive)

    async def _record(self, schedule: AnySchedule) -> ScheduleRecord:
        key = key_of_schedule(schedule)
        if is_id(key):
            return await self._read(lambda tx: schedules.schedule_by_id(tx, key))
        storable = 0 < len(key) <= NAME_LIMIT and "\x00" not in key
        if storable and (found := (await self._read(lambda tx: schedules.schedules(tx, None, 1, name=key))).items):
            return found[0]
        raise ScheduleNotFound(key)

    async def _id(self, schedule: AnySchedule) -> str:
        key = key_of_schedule(schedule)
        return key if is_id(key) else (await self._record(key)).id

    async def _live(self) -> dict[str, int]:
        """Count the live workers that serve each task."""
        live: dict[str, int] = {}
        for each in await self._read(lambda tx: instances(tx, micros(self._app.settings.lease))):
            for task in each.tasks if each.alive else ():
                live[task] = live.get(task, 0) + 1
        return live

    async def _register(self, task: str) -> None:
        """Make a task of this App known, even before a worker of it has started."""
        if task not in self._app.tasks.names():
            return
        mine = {task: registration_of(self._app.tasks.get(task))}

        async def register(tx: Tx) -> None:
            if not await known.find_tasks(tx, mine):
                await known.register_tasks(tx, mine, LOCAL)

        if not await self._read(lambda tx: known.find_tasks(tx, mine)):
            await self._write(register)

    def _definition(self, task: str, fields: Mapping[str, Any]) -> Definition:
        definition = definitions.definition_of(fields, self._zone)
        return msgspec.structs.replace(definition, args=self._packed(task, fields.get("args") or {}))


def _task_name(task: AnyTask) -> str:
    with inside("task_id"):
        return convert(Name, name_of_task(task))
