"""`app.workflows`: workflows, their runs, and what a serverless cron calls."""

from __future__ import annotations

import asyncio
import builtins
import datetime as dt
from collections.abc import Mapping
from typing import Any, Unpack
from zoneinfo import ZoneInfo

import msgspec

from hanbeon.domain.job import check_size, is_id
from hanbeon.domain.json_text import to_json_text
from hanbeon.errors import Changed
from hanbeon.rule import Rule
from hanbeon.service.explain import explain_job
from hanbeon.store.operations import cancel as cancels
from hanbeon.store.operations.queries import now_us
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.job_view import explanation_view
from hanbeon.surfaces.moment import with_moments_as_text
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.service import LOCAL, NewId, may_exist, random_id
from hanbeon.surfaces.validation import given_fields, validate
from hanbeon.surfaces.workflows import keywords, rows, run_rows, schemas
from hanbeon.surfaces.workflows.definition import Definition, ScheduleConfig
from hanbeon.surfaces.workflows.errors import WorkflowNotFound, WorkflowRunNotFound, WorkflowWrongState
from hanbeon.surfaces.workflows.plan import check_not_past, config_of, definition_of, shown_text
from hanbeon.surfaces.workflows.rows import NewWorkflow, WorkflowRecord
from hanbeon.surfaces.workflows.run_rows import RunChanged, RunRecord, WholeRun, in_rounds
from hanbeon.surfaces.workflows.scheduler import SchedulerEndpoints
from hanbeon.surfaces.workflows.variables import check_given
from hanbeon.surfaces.workflows.vocabulary import Mode, WorkflowStatus, status_of
from hanbeon.zones import zone_of

_PAGE_SIZE = 100
_RUNS_A_PAGE = 20

AnyWorkflow = schemas.Workflow | str
"""A workflow, or its id."""
AnyRun = schemas.WorkflowRun | schemas.Execution | str
"""A run, or its id."""


class Workflows(SchedulerEndpoints):
    """Workflows of one App. The App must be open."""

    # Workflows

    async def create(
        self,
        *,
        wait: float | None = None,
        by: str = LOCAL,
        new_id: NewId = random_id,
        **fields: Unpack[keywords.NewWorkflowFields],
    ) -> schemas.Workflow:
        """Save a workflow: a draft, or with `status="active"` one that runs; `wait`: see `activate`."""
        seconds = _seconds(wait)
        return await self._with_run(await self._save(self._json(fields), new_id(0), by), seconds)

    async def declare(self, name: str, fields: Mapping[str, Any]) -> str:
        """Apply a declaration where it differs from the last one of that name; return what was done.

        Repeating the same declaration changes nothing, so that changes by a user are kept.
        """
        text = to_json_text(dict(fields), "the workflow", "steps")
        found = await self._read(lambda tx: rows.workflow_declared(tx, name))
        if found is None:
            await self._save({"name": name, **fields}, random_id(), LOCAL, (name, text))
            return "made"
        if found.declared == text:
            return "same"

        async def mark(tx: Tx, **changes: str | None) -> None:
            locked = await rows.lock_workflow(tx, found.id, deleted=True)
            await rows.change_workflow(tx, msgspec.structs.replace(locked, **changes))

        if found.deleted_at is not None:
            # Nothing else: if the change fails or is lost, the next declaration makes it.
            await self._write(lambda tx: mark(tx, deleted_at=None))
        await self.change(found.id, **{"name": name, **fields})
        await self._write(lambda tx: mark(tx, declared=text))
        return "changed" if found.deleted_at is None else "revived"

    async def _save(
        self, fields: dict[str, Any], workflow_id: str, by: str, declared: tuple[str, str] | None = None
    ) -> WorkflowRecord:
        given = given_fields(validate(schemas.NewWorkflow, fields))
        status = given.get("status", WorkflowStatus.DRAFT)
        zone = self._zone_of(given.get("timezone"))
        definition = await asyncio.to_thread(definition_of, given, self._app.messenger, zone, None)
        config = config_of(given["schedule_config"], zone)
        new = NewWorkflow(
            id=workflow_id,
            name=definition.name,
            definition=self._text(definition),
            shown=shown_text(definition, config, zone),
            schedule_config=to_json(config),
            timezone=zone.key,
            created_by=by,
            declared_name=None if declared is None else declared[0],
            declared=None if declared is None else declared[1],
        )

        async def write(tx: Tx) -> WorkflowRecord:
            # Checked only if it is new: what a repeated request met may have changed, and its time may be past by now.
            if await rows.add_workflow(tx, new):
                await self._check_tasks(tx, definition)
                check_not_past(config, await now_us(tx), zone)
                if status is not WorkflowStatus.DRAFT:
                    await self._to_status(tx, new.id, status)
            if declared is not None and (found := await rows.workflow_declared(tx, declared[0])) is not None:
                return found  # Another worker may have declared it at the same time.
            return await rows.workflow_by_id(tx, new.id)

        return await in_rounds(lambda: self._write(write))

    async def get(self, workflow: AnyWorkflow) -> schemas.Workflow:
        """The workflow as it is now, with its next run in its own zone."""
        workflow_id = _id(workflow)
        return self._view(await self._read(lambda tx: rows.workflow_by_id(tx, workflow_id)))

    async def list(self, **query: Unpack[keywords.WorkflowQueryFields]) -> schemas.WorkflowPage:
        """Workflows in the order of their creation; continue with the page's `next_cursor`."""
        filter = given_fields(validate(schemas.WorkflowQuery, query))
        size, after = filter.get("limit", _PAGE_SIZE), int(filter.get("cursor") or 0)
        found = await self._read(lambda tx: rows.workflows(tx, after, size, filter.get("status")))
        return schemas.WorkflowPage(
            items=[self._view(each) for each in found.items], next_cursor=found.cursor(lambda each: each.seq)
        )

    async def change(
        self,
        workflow: AnyWorkflow,
        *,
        expected: int | None = None,
        **fields: Unpack[keywords.WorkflowChangesFields],
    ) -> schemas.Workflow:
        """Change fields; an active workflow is registered again if its times have changed.

        `expected` is the `version` that you have seen: if it has changed since, nothing is written.
        """
        workflow_id = _id(workflow)
        given = given_fields(validate(schemas.WorkflowChanges, self._json(fields)))

        async def change() -> WorkflowRecord:
            seen = await self._read(lambda tx: rows.workflow_by_id(tx, workflow_id))
            zone = self._zone_of(given["timezone"]) if "timezone" in given else zone_of(seen.timezone)
            definition = await asyncio.to_thread(definition_of, given, self._app.messenger, zone, seen.plan)

            async def write(tx: Tx) -> WorkflowRecord:
                before, job = await run_rows.lock_with_run(tx, workflow_id)
                _check_version(before, expected)
                if before.version != seen.version:
                    raise RunChanged
                after = await self._changed(tx, before, given, definition, zone)
                if (status := given.get("status", before.status)) is not before.status:
                    after = await self._moved(tx, after, status)
                return (await run_rows.settle(tx, self._store.lanes, (after, job)))[0]

            return await self._write(write)

        return self._view(await in_rounds(change))

    async def delete(self, workflow: AnyWorkflow, *, expected: int | None = None) -> None:
        """Delete a workflow that has no run under way. Its past runs are kept as long as any."""
        workflow_id = _id(workflow)

        async def write(tx: Tx) -> None:
            before, job = await run_rows.lock_with_run(tx, workflow_id)
            _check_version(before, expected)
            gone = msgspec.structs.replace(before, deleted_at=await now_us(tx), status=WorkflowStatus.PAUSED)
            await run_rows.settle(tx, self._store.lanes, (gone, job))
            if (run_id := await run_rows.unfinished_run(tx, workflow_id)) is not None:
                raise WorkflowWrongState(Rule("workflow_running", workflow=workflow_id, run=run_id))

        await in_rounds(lambda: self._write(write))

    async def activate(self, workflow: AnyWorkflow, *, wait: float | None = None) -> schemas.Workflow:
        """Make a workflow run by its schedule. `wait`: return its run, if that ends within so many seconds."""
        return await self._with_run(await self._set_status(workflow, WorkflowStatus.ACTIVE), _seconds(wait))

    async def pause(self, workflow: AnyWorkflow) -> schemas.Workflow:
        """Start no more runs; the registered one is removed, and one that has started goes on."""
        return self._view(await self._set_status(workflow, WorkflowStatus.PAUSED))

    async def dry_run(self, workflow: AnyWorkflow, **fields: Unpack[keywords.DryRunFields]) -> schemas.DryRunResult:
        """Render every message of a workflow, without sending any."""
        from hanbeon.surfaces.workflows.preview import rendered_messages

        workflow_id = _id(workflow)
        given = given_fields(validate(schemas.DryRun, fields))
        record = await self._read(lambda tx: rows.workflow_by_id(tx, workflow_id))
        now = await self._read(now_us)
        variables = given.get("variables", {})
        check_given(record.plan, variables)
        found = await asyncio.to_thread(
            rendered_messages, record, variables, given.get("outputs", {}), record.next_time or now
        )
        return schemas.DryRunResult(messages=list(found.items), more=found.more)

    # Runs

    async def runs(
        self, workflow: AnyWorkflow, **query: Unpack[keywords.WorkflowRunQueryFields]
    ) -> schemas.WorkflowRunPage:
        """Runs, newest first; continue with the page's `next_cursor`."""
        workflow_id = _id(workflow)
        filter = given_fields(validate(schemas.WorkflowRunQuery, query))
        size, cursor = min(filter.get("limit", _RUNS_A_PAGE), _PAGE_SIZE), filter.get("cursor")

        async def read(tx: Tx) -> tuple[builtins.list[WholeRun], bool]:
            await rows.workflow_by_id(tx, workflow_id)
            return await run_rows.runs(tx, workflow_id, int(cursor) if cursor else None, size)

        found, more = await self._read(read)
        items = [self._serializer.run(each) for each in found]
        return schemas.WorkflowRunPage(items=items, next_cursor=str(found[-1].run.job) if more else None)

    async def run_of(self, workflow: AnyWorkflow, run: AnyRun) -> schemas.WorkflowRun:
        """One run of a workflow, with its steps."""
        workflow_id, run_id = _id(workflow), _run_id(run)

        async def read(tx: Tx) -> WholeRun:
            return await _whole(tx, await _run(tx, workflow_id, run_id))

        return self._serializer.run(await self._read(read))

    async def cancel(self, workflow: AnyWorkflow, run: AnyRun) -> schemas.WorkflowRun:
        """Cancel an unfinished run; a step under way is stopped first."""
        workflow_id, run_id = _id(workflow), _run_id(run)

        async def write(tx: Tx) -> WholeRun:
            await _run(tx, workflow_id, run_id)
            await cancels.cancel(tx, self._store.lanes, run_id)
            return await _whole(tx, await _run(tx, workflow_id, run_id))

        return self._serializer.run(await self._write(write))

    async def retry(self, workflow: AnyWorkflow, run: AnyRun) -> schemas.WorkflowRun:
        """Run a failed or cancelled run again, from the step at which it ended."""
        workflow_id, run_id = _id(workflow), _run_id(run)

        async def write(tx: Tx) -> WholeRun:
            return await _whole(tx, await run_rows.retry(tx, self._store.lanes, workflow_id, run_id))

        return self._serializer.run(await self._write(write))

    async def explain(self, workflow: AnyWorkflow, run: AnyRun) -> Explanation:
        """Explain why a run does not begin, what it waits for, or why it failed."""
        workflow_id, run_id = _id(workflow), _run_id(run)
        await self._read(lambda tx: _run(tx, workflow_id, run_id))
        return explanation_view(await explain_job(self._store, run_id, self._alive_within_us), self._zone, status_of)

    async def execute(
        self,
        workflow_id: AnyWorkflow,
        *,
        variables: Mapping[str, Any] | None = None,
        by: str = LOCAL,
        new_id: NewId = random_id,
    ) -> schemas.Execution:
        """Run a workflow now, whatever its status, beside its registered run; wait for the end within the budget."""
        fields: dict[str, Any] = {"workflow_id": _id(workflow_id)}
        if variables is not None:
            fields["variables"] = dict(variables)
        given = given_fields(validate(schemas.NewExecution, fields))
        chosen, run_id = given.get("variables", {}), new_id(0)
        text = to_json_text(chosen, "a variable", "variables")
        check_size("variables", text, self._app.settings.max_payload_bytes)

        async def write(tx: Tx) -> None:
            if may_exist(new_id) and await run_rows.runs_by_id(tx, [run_id]):
                return  # The first request began it, and the workflow may be another one by now.
            record = await rows.workflow_by_id(tx, given["workflow_id"])
            check_given(record.plan, chosen)
            await run_rows.add_manual(tx, self._store.lanes, record.id, run_id, text, by)

        await self._write(write)
        await self._local.until_ended(run_id, self._app.settings.workflow_budget)

        async def read(tx: Tx) -> WholeRun:
            return await _whole(tx, await run_rows.run_by_id(tx, None, run_id))

        return self._serializer.execution(await self._read(read))

    # Shared helpers

    async def _set_status(self, workflow: AnyWorkflow, status: WorkflowStatus) -> WorkflowRecord:
        workflow_id = _id(workflow)
        record: WorkflowRecord = await in_rounds(
            lambda: self._write(lambda tx: self._to_status(tx, workflow_id, status))
        )
        return record

    async def _to_status(self, tx: Tx, workflow_id: str, status: WorkflowStatus) -> WorkflowRecord:
        before, job = await run_rows.lock_with_run(tx, workflow_id)
        if before.status is status:
            return before
        after = await self._moved(tx, before, status)
        return (await run_rows.settle(tx, self._store.lanes, (after, job)))[0]

    async def _moved(self, tx: Tx, before: WorkflowRecord, status: WorkflowStatus) -> WorkflowRecord:
        """The workflow in another status. Activating begins a new activation, for which each mode counts again."""
        after = msgspec.structs.replace(before, status=status, version=before.version + 1)
        if status is not WorkflowStatus.ACTIVE:
            return after
        now = await now_us(tx)
        check_not_past(after.config, now, zone_of(after.timezone))
        return msgspec.structs.replace(after, activation=after.activation + 1, activated_at=now, spent=False)

    async def _changed(
        self, tx: Tx, before: WorkflowRecord, given: Mapping[str, Any], definition: Definition, zone: ZoneInfo
    ) -> WorkflowRecord:
        await self._check_tasks(tx, definition)
        config: ScheduleConfig = before.config
        if "schedule_config" in given:
            config = config_of(given["schedule_config"], zone)
        after = msgspec.structs.replace(
            before,
            name=definition.name,
            definition=self._text(definition),
            shown=shown_text(definition, config, zone),
            schedule_config=to_json(config),
            timezone=zone.key,
            version=before.version + 1,
        )
        if config == before.config and zone.key == before.timezone:
            return after
        now = await now_us(tx)
        if config != before.config:
            check_not_past(config, now, zone)
        if before.status is not WorkflowStatus.ACTIVE:
            return after
        # Other times are another cause. Only a delay that is not over goes on from the activation.
        again = before.spent or config.mode in (Mode.IMMEDIATE, Mode.RECURRING)
        return msgspec.structs.replace(
            after,
            activation=before.activation + 1,
            activated_at=now if again else before.activated_at,
            spent=False,
        )

    async def _check_tasks(self, tx: Tx, definition: Definition) -> None:
        """Reject steps whose task nobody has registered."""
        for index, step in enumerate(definition.steps):
            if step.task_id is not None and step.task_id not in self._app.tasks.names():
                await self._known_task(tx, step.task_id, f"steps[{index}].task_id")

    def _json(self, fields: Any) -> dict[str, Any]:
        """Python callers may give moments as datetimes, and structs."""
        plain = msgspec.to_builtins(dict(fields), builtin_types=(dt.datetime,))
        return with_moments_as_text(plain, self._zone_of_naive)

    async def _with_run(self, record: WorkflowRecord, seconds: float) -> schemas.Workflow:
        if not seconds or record.run_id is None:
            return self._view(record)
        run_id = record.run_id
        await self._local.until_ended(run_id, seconds)

        async def read(tx: Tx) -> tuple[WorkflowRecord, WholeRun]:
            return await rows.workflow_by_id(tx, record.id), await _whole(tx, await _run(tx, record.id, run_id))

        found, run = await self._read(read)
        return self._serializer.workflow(found, self._serializer.run(run))

    def _text(self, definition: Definition) -> str:
        text = to_json_text(definition, "the workflow", "steps")
        check_size("steps", text, self._app.settings.max_payload_bytes)
        return text

    def _zone_of(self, name: str | None) -> ZoneInfo:
        return self._zone if name is None else zone_of(name)

    def _view(self, record: WorkflowRecord) -> schemas.Workflow:
        return self._serializer.workflow(record)


async def _run(tx: Tx, workflow_id: str, run_id: str) -> RunRecord:
    """A run of a workflow that was not deleted."""
    await rows.workflow_by_id(tx, workflow_id)
    return await run_rows.run_by_id(tx, workflow_id, run_id)


async def _whole(tx: Tx, run: RunRecord) -> WholeRun:
    return (await run_rows.whole_runs(tx, [run]))[0]


def _id(workflow: AnyWorkflow) -> str:
    found = workflow.id if isinstance(workflow, schemas.Workflow) else workflow
    if not is_id(found):
        raise WorkflowNotFound(found)
    return found


def _run_id(run: AnyRun) -> str:
    found = run if isinstance(run, str) else run.run_id
    if not is_id(found):
        raise WorkflowRunNotFound(found)
    return found


def _check_version(record: WorkflowRecord, expected: int | None) -> None:
    if expected is not None and record.version != expected:
        raise Changed(Rule("workflow_version", workflow=record.id, version=record.version, expected=expected))


def _seconds(wait: float | None) -> float:
    given = given_fields(validate(schemas.RunWaitQuery, {} if wait is None else {"wait": wait}))
    found: float = given.get("wait", 0.0)
    return found
