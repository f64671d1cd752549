"""Workflows as rows: create, read and change. Their runs are in `workflow_runs`, the steps in `workflow_steps`."""

from __future__ import annotations

from typing import Any

import msgspec

from hanbeon.domain.job import JobRecord
from hanbeon.store.operations.pages import Slice, fit_page
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.surface import JobPlace
from hanbeon.surfaces.workflows.definition import Definition, ScheduleConfig, read_config, read_definition
from hanbeon.surfaces.workflows.errors import WorkflowNotFound
from hanbeon.surfaces.workflows.times import Activation, next_time
from hanbeon.surfaces.workflows.vocabulary import TASK, WorkflowStatus

NEVER = 0


class NewWorkflow(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow to create, as a draft."""

    id: str
    name: str
    definition: str
    shown: str
    schedule_config: str
    timezone: str
    created_by: str
    declared_name: str | None = None
    declared: str | None = None


class WorkflowRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored workflow. Instants are microseconds since 1970 UTC."""

    seq: int
    id: str
    name: str
    definition: str
    shown: str
    schedule_config: str
    timezone: str
    status: WorkflowStatus
    activation: int
    activated_at: int | None
    spent: bool
    run_id: str | None
    next_time: int | None
    last_time: int | None
    declared_name: str | None
    declared: str | None
    version: int
    created_by: str
    created_at: int
    changed_at: int
    deleted_at: int | None

    @property
    def plan(self) -> Definition:
        return read_definition(self.definition)

    @property
    def config(self) -> ScheduleConfig:
        return read_config(self.schedule_config)

    def next_time_at(self, now: int) -> int | None:
        """Return when it runs next, by the clock; None if it is not active, or has run."""
        if self.status is not WorkflowStatus.ACTIVE or self.deleted_at is not None:
            return None
        active = Activation(self.activated_at or NEVER, self.last_time, self.spent)
        return next_time(self.config, self.timezone, active, now)


async def add_workflow(tx: Tx, new: NewWorkflow) -> bool:
    """Create a workflow; False if a repeated request, which has the same id, has created it already."""
    return bool(await tx.fetch("add_workflow", *msgspec.structs.astuple(_in_order(new))))


class _Row(msgspec.Struct, frozen=True):
    """The parameters of `add_workflow`, in their order."""

    id: str
    name: str
    definition: str
    shown: str
    schedule_config: str
    timezone: str
    declared_name: str | None
    declared: str | None
    created_by: str


def _in_order(new: NewWorkflow) -> _Row:
    return _Row(**{name: getattr(new, name) for name in _Row.__struct_fields__})


async def workflow_by_id(tx: Tx, workflow_id: str, *, deleted: bool = False) -> WorkflowRecord:
    """Return a workflow. `deleted`: also one that is kept for its runs only."""
    return _one(await tx.fetch("workflow_by_id", workflow_id), workflow_id, deleted)


async def workflow_declared(tx: Tx, name: str) -> WorkflowRecord | None:
    """Return the workflow that a file declared under this name, also one that was deleted since."""
    for row in await tx.fetch("workflow_declared", name):
        return workflow_record(row)
    return None


async def keep_workflow(tx: Tx, workflow_id: str) -> WorkflowRecord:
    """Lock a workflow in share mode, after the job of the run if there is one: it is not deleted before the commit.

    Whatever adds or reopens a run takes this lock, or that of `lock_workflow` if it changes the workflow, too. The
    deletion, which waits for it, then sees the run.
    """
    return _one(await tx.fetch("keep_workflow", workflow_id), workflow_id, deleted=False)


async def lock_workflow(tx: Tx, workflow_id: str, *, deleted: bool = False) -> WorkflowRecord:
    return _one(await tx.fetch("lock_workflow", workflow_id), workflow_id, deleted)


def _one(rows: Any, workflow_id: str, deleted: bool) -> WorkflowRecord:
    for row in rows:
        found = workflow_record(row)
        if deleted or found.deleted_at is None:
            return found
    raise WorkflowNotFound(workflow_id)


async def change_workflow(tx: Tx, workflow: WorkflowRecord) -> None:
    """Write the fields of a locked workflow."""
    await tx.fetch("change_workflow", to_json([workflow]))


async def workflows(tx: Tx, after: int, limit: int, status: WorkflowStatus | None = None) -> Slice[WorkflowRecord]:
    """Return workflows in the order of their creation; a page ends early if they are large."""
    rows = await tx.fetch("workflows", after, limit + 1, status)
    found = {row["seq"]: workflow_record(row) for row in rows}
    page = fit_page([(seq, len(each.definition)) for seq, each in found.items()], limit)
    return page.of([found[seq] for seq in page.items])


def workflow_record(row: Any) -> WorkflowRecord:
    record: WorkflowRecord = stored(WorkflowRecord, row, "id", "run_id")
    return record


def stored(kind: Any, row: Any, *ids: str) -> Any:
    """Make a record from a row, with ids as text."""
    values: dict[str, Any] = {name: row[name] for name in kind.__struct_fields__}
    for name in ids:
        values[name] = None if values[name] is None else str(values[name])
    return msgspec.convert(values, kind, strict=False)


def place_of_job(job: JobRecord) -> JobPlace | None:
    """A run is moved through its workflow, which goes on from its end."""
    if job.task != TASK:
        return None
    workflow_id = str(job.work_item)

    async def exists(tx: Tx) -> bool:
        return any(row["deleted_at"] is None for row in await tx.fetch("workflow_by_id", workflow_id))

    return JobPlace(f"/api/workflows/{workflow_id}/runs/{job.id}", moves=False, exists=exists)
