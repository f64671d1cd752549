"""Runs of workflows: registered with the next time of an active workflow, or requested; and what follows their end."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from hanbeon.domain.derived_ids import derived_id
from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.domain.retry import Backoff, FailureType, RetryPolicy
from hanbeon.errors import Conflict
from hanbeon.rule import Rule
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations.cancel import cancel_these, requeue_owned
from hanbeon.store.operations.dependencies import promote_these
from hanbeon.store.operations.end_hooks import EndedJob, EndHook, register_end_hook
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.prune import delete_jobs
from hanbeon.store.operations.queries import now_us
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.workflows.definition import Definition, read_definition
from hanbeon.surfaces.workflows.errors import WorkflowRunNotFound, WorkflowWrongState
from hanbeon.surfaces.workflows.rows import (
    WorkflowRecord,
    change_workflow,
    keep_workflow,
    lock_workflow,
    stored,
    workflow_by_id,
    workflow_record,
)
from hanbeon.surfaces.workflows.step_rows import (
    DeliveryRecord,
    StepRecord,
    deliveries_of,
    hold,
    steps_of,
)
from hanbeon.surfaces.workflows.times import LATE_US, passed_over
from hanbeon.surfaces.workflows.vocabulary import (
    NOTICE_QUEUE,
    NOTICE_TASK,
    PREFIX,
    QUEUE,
    STEP_QUEUE,
    TASK,
    Mode,
    RunEnd,
    RunKind,
    StepStatus,
    WorkflowStatus,
)

T = TypeVar("T")
ROWS_OF_RUNS = ("prune_workflow_deliveries", "prune_workflow_steps", "prune_workflow_runs")
"""Statements that delete the rows of runs, which are given by the seqs of their jobs."""
_CANCELLED = "CANCELLED"
_CANCELLED_MESSAGE = "The run was cancelled"
_LAST = 2**63 - 1
_ROUNDS = 10
_POLICY = RetryPolicy(max_retries=20, backoff=Backoff.LINEAR, base_us=1_000_000)
"""For attempts that were lost, each perhaps at another step: a step that fails has retries of its own."""
_NOTICE_POLICY = RetryPolicy(max_retries=5, base_us=10_000_000)


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored run with the state of its job; `variables`, `skipped` and `definition` are JSON text."""

    job: int
    run_id: str
    workflow_id: str
    kind: RunKind
    scheduled_time: int
    variables: str
    requested_by: str | None
    definition: str | None
    due_at: int
    executed_at: int | None
    ended_at: int | None
    status: RunEnd | None
    error_code: str | None
    error_message: str | None
    retry_count: int
    late: bool
    skipped: str | None
    created_at: int
    state: State
    run_at: int

    @property
    def plan(self) -> Definition | None:
        return None if self.definition is None else read_definition(self.definition)


class WholeRun(msgspec.Struct, frozen=True):
    """A run with its steps that have begun, and their messages."""

    run: RunRecord
    steps: list[StepRecord]
    deliveries: list[DeliveryRecord]


class Registration(enum.StrEnum):
    """The change of a workflow's registered run."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"


class RunChanged(Exception):
    """The registered run is another one by now: the transaction must begin again, for the order of its locks."""


# Registration


async def register(tx: Tx, lanes: LaneCache, workflow_id: str) -> Registration | None:
    """Bring the registered run of a workflow in line with its definition. None: there is none, and none is due."""
    return (await settle(tx, lanes, await lock_with_run(tx, workflow_id)))[1]


async def lock_with_run(tx: Tx, workflow_id: str, *, deleted: bool = False) -> tuple[WorkflowRecord, Any]:
    """Lock the job of the registered run, then the workflow: the order in which the end of a run locks them."""
    before = await workflow_by_id(tx, workflow_id, deleted=deleted)
    job = None
    if before.run_id is not None:
        found = await tx.fetch("seqs_by_id", to_json([before.run_id]))
        locked = await tx.fetch("lock_jobs", to_json([row["seq"] for row in found]))
        job = locked[0] if locked else None
    workflow = await lock_workflow(tx, workflow_id, deleted=deleted)
    if workflow.run_id != before.run_id:
        raise RunChanged
    return workflow, job


async def settle(
    tx: Tx, lanes: LaneCache, found: tuple[WorkflowRecord, Any]
) -> tuple[WorkflowRecord, Registration | None]:
    """Write a locked workflow whose fields may have changed, with the registered run that it should have now."""
    workflow, job = found
    now = await now_us(tx)
    wanted = workflow.next_time_at(now)
    unfinished = job is not None and State(job["state"]) in UNFINISHED
    if unfinished and not _is_replaceable(workflow, job, now):
        await change_workflow(tx, workflow)
        return workflow, Registration.UNCHANGED
    if unfinished and wanted == workflow.next_time:
        await change_workflow(tx, workflow)
        return workflow, Registration.UNCHANGED
    workflow = msgspec.structs.replace(workflow, run_id=None, next_time=None)
    # Written first: the end of a run that belongs to no workflow any more has no consequence.
    await change_workflow(tx, workflow)
    if unfinished:
        await cancel_these(tx, lanes, [job["seq"]], tuple(UNFINISHED))
        await delete_jobs(tx, lanes, ROWS_OF_RUNS, [job["seq"]])
    if wanted is None:
        return workflow, Registration.REMOVED if unfinished else None
    workflow = await _add_registered(tx, lanes, workflow, wanted)
    return workflow, Registration.UPDATED if unfinished else Registration.CREATED


def _is_replaceable(workflow: WorkflowRecord, job: Any, now: int) -> bool:
    """True for a run that has never started, and is not due; one that is due goes only with its workflow's activity."""
    if State(job["state"]) is State.RUNNING or job["fence"]:
        return False
    is_due = workflow.next_time is not None and workflow.next_time <= now
    return not is_due or workflow.status is not WorkflowStatus.ACTIVE or workflow.deleted_at is not None


async def _add_registered(tx: Tx, lanes: LaneCache, workflow: WorkflowRecord, at: int) -> WorkflowRecord:
    # One run per activation and time, no matter who registers it.
    cause = f"{workflow.id}/{workflow.activation}/{at}"
    run_id = derived_id(max(0, at), "workflow", cause)
    job = NewJob(
        id=run_id,
        task=TASK,
        args="{}",
        queue=QUEUE,
        run_at_us=at,
        policy=_POLICY,
        idempotency_key=f"hanbeon:workflow/{cause}",
        work_item=workflow.id,
    )
    lanes = await lanes.ensure(tx, [job.lane])
    made = (await enqueues.enqueue(tx, lanes, [job]))[0]
    if not made.created:
        # It ran already, and its workflow went back to the same time.
        return workflow
    await tx.fetch("add_workflow_run", made.seq, run_id, workflow.id, RunKind.REGISTERED, at, "{}", None)
    changed = msgspec.structs.replace(workflow, run_id=run_id, next_time=at)
    await change_workflow(tx, changed)
    return changed


async def add_manual(
    tx: Tx, lanes: LaneCache, workflow_id: str, run_id: str, variables: str, by: str | None
) -> RunRecord:
    """Create a run beside the registered one, to begin now. A repeated request, with the same id, changes nothing."""
    workflow = await keep_workflow(tx, workflow_id)
    job = NewJob(id=run_id, task=TASK, args="{}", queue=QUEUE, policy=_POLICY, work_item=workflow.id)
    lanes = await lanes.ensure(tx, [job.lane])
    made = (await enqueues.enqueue(tx, lanes, [job]))[0]
    if made.created:
        await tx.fetch(
            "add_workflow_run", made.seq, run_id, workflow.id, RunKind.MANUAL, made.created_at, variables, by
        )
    return await run_by_id(tx, workflow_id, run_id)


# Reading


async def run_by_id(tx: Tx, workflow_id: str | None, run_id: str) -> RunRecord:
    for row in await tx.fetch("workflow_run_by_id", run_id):
        found = run_record(row)
        if workflow_id in (None, found.workflow_id):
            return found
    raise WorkflowRunNotFound(run_id)


async def unfinished_run(tx: Tx, workflow_id: str) -> str | None:
    """Return the id of an unfinished run, registered or not; None if there is none."""
    rows = await tx.fetch("unfinished_workflow_run", workflow_id)
    return str(rows[0]["run_id"]) if rows else None


async def runs(tx: Tx, workflow_id: str, before: int | None, limit: int) -> tuple[list[WholeRun], bool]:
    """Return runs, newest first, and True if there are more."""
    rows = await tx.fetch("workflow_runs", workflow_id, _LAST if before is None else before, limit + 1)
    return await whole_runs(tx, [run_record(row) for row in rows[:limit]]), len(rows) > limit


async def runs_by_id(tx: Tx, run_ids: Sequence[str]) -> list[WholeRun]:
    rows = await tx.fetch("workflow_runs_by_id", to_json(list(run_ids)))
    return await whole_runs(tx, [run_record(row) for row in rows])


async def whole_runs(tx: Tx, found: Sequence[RunRecord]) -> list[WholeRun]:
    ids = [run.run_id for run in found]
    if not ids:
        return []
    steps, deliveries = await steps_of(tx, ids), await deliveries_of(tx, ids)
    return [WholeRun(run, steps[run.run_id], deliveries[run.run_id]) for run in found]


# Running


async def begin(tx: Tx, lease: Lease, run_id: str) -> WholeRun | None:
    """Return the run as its attempt finds it; the first one fixes the workflow. None: the lease is gone."""
    now = await hold(tx, lease)
    if now is None:
        return None
    run = await run_by_id(tx, None, run_id)
    workflow = await workflow_by_id(tx, run.workflow_id, deleted=True)
    await tx.fetch("begin_workflow_run", lease.seq, workflow.definition, workflow.shown, now, LATE_US)
    return (await runs_by_id(tx, [run_id]))[0]


async def retry(tx: Tx, lanes: LaneCache, workflow_id: str, run_id: str) -> RunRecord:
    """Run a failed or cancelled run again, from the step at which it ended."""
    await workflow_by_id(tx, workflow_id)
    run = await run_by_id(tx, workflow_id, run_id)
    if run.status not in (RunEnd.FAILED, RunEnd.CANCELLED):
        raise WorkflowWrongState(Rule("run_not_failed", run=run_id, status=run.status or "unfinished"))
    await requeue_owned(tx, lanes, run_id)
    # After the job, as at the end of a run.
    await keep_workflow(tx, workflow_id)
    failed = [step.step_index for step in (await steps_of(tx, [run_id]))[run_id] if not _is_done(step)]
    await tx.fetch("reopen_workflow_run", run_id)
    if failed:
        await tx.fetch("reopen_workflow_steps", run_id, max(failed))
    return await run_by_id(tx, workflow_id, run_id)


def _is_done(step: StepRecord) -> bool:
    return step.status is StepStatus.COMPLETED


# Ends


async def runs_ended(tx: Tx, lanes: LaneCache, ended: Sequence[EndedJob]) -> None:
    """Record the ends of runs, register what follows, and tell those who are to be notified."""
    by_id = {job.id: job for job in ended}
    await tx.fetch("end_workflow_runs", to_json([_end(job) for job in ended]))
    stopped = [job.id for job in ended if job.state is not State.SUCCEEDED]
    if stopped:
        await tx.fetch("end_workflow_steps", to_json(stopped))
        children = [row["seq"] for row in await tx.fetch("unfinished_step_jobs", to_json(stopped))]
        if children:
            await cancel_these(tx, lanes, children, tuple(UNFINISHED))
        await _notify(tx, lanes, [job for job in ended if job.state is State.FAILED])
    rows = await tx.fetch("lock_workflows_of_runs", to_json(sorted(by_id)))
    for workflow in [workflow_record(row) for row in rows]:
        assert workflow.run_id is not None
        await _run_ended(tx, lanes, workflow, by_id[workflow.run_id].finished_at)


async def _run_ended(tx: Tx, lanes: LaneCache, workflow: WorkflowRecord, now: int) -> None:
    """Register the next run of a workflow, whose times up to now are decided with this one."""
    assert workflow.next_time is not None
    assert workflow.run_id is not None
    config = workflow.config
    passed = passed_over(config, workflow.timezone, max(workflow.next_time, workflow.activated_at or 0), now)
    if passed is not None:
        await tx.fetch("skip_workflow_times", workflow.run_id, to_json(passed))
    workflow = msgspec.structs.replace(
        workflow,
        run_id=None,
        next_time=None,
        last_time=workflow.next_time,
        spent=workflow.spent or config.mode is not Mode.RECURRING,
    )
    await settle(tx, lanes, (workflow, None))


def _end(job: EndedJob) -> dict[str, Any]:
    end = {State.SUCCEEDED: RunEnd.COMPLETED, State.CANCELLED: RunEnd.CANCELLED}.get(job.state, RunEnd.FAILED)
    code = message = None
    if end is RunEnd.CANCELLED:
        code, message = _CANCELLED, _CANCELLED_MESSAGE
    elif end is RunEnd.FAILED:
        code, message = (job.failure_type or FailureType.ERROR).upper(), job.error_message
    return {
        "job": job.seq,
        "ended_at": job.finished_at,
        "status": end,
        "error_code": code,
        "error_message": message,
    }


async def _notify(tx: Tx, lanes: LaneCache, failed: Sequence[EndedJob]) -> None:
    """Create a message for each target that a failed run's workflow names."""
    new = []
    for row in await tx.fetch("workflow_runs_of_jobs", to_json([job.seq for job in failed])) if failed else ():
        run = run_record(row)
        plan = run.plan
        for number in range(len(plan.notifications) if plan is not None else 0):
            at = run.ended_at or 0
            new.append(
                NewJob(
                    id=derived_id(at, "notice", run.run_id, at, number),
                    task=NOTICE_TASK,
                    args=to_json({"run_id": run.run_id, "number": number}),
                    queue=NOTICE_QUEUE,
                    policy=_NOTICE_POLICY,
                    work_item=run.workflow_id,
                )
            )
    if new:
        lanes = await lanes.ensure(tx, [job.lane for job in new])
        await enqueues.enqueue(tx, lanes, new)


async def step_jobs_ended(tx: Tx, lanes: LaneCache, ended: Sequence[EndedJob]) -> None:
    """Resume runs that wait for these jobs; a locked run re-checks when it is written."""
    rows = await tx.fetch("runs_waiting_for_jobs", to_json(sorted(job.id for job in ended)))
    seqs = [row["seq"] for row in await tx.fetch("bring_forward", to_json([row["seq"] for row in rows]))]
    if seqs:
        await lanes.learn(tx, [row["lane"] for row in rows])
        await promote_these(tx, lanes, seqs)


HOOK = EndHook(
    PREFIX,
    runs_ended,
    "a workflow",
    "retry it through its workflow: POST /api/workflows/{id}/runs/{run_id}/retry",
)
STEP_HOOK = register_end_hook(
    EndHook(STEP_QUEUE, step_jobs_ended, "a run of a workflow", "retry the run", by_queue=True)
)


def run_record(row: Any) -> RunRecord:
    record: RunRecord = stored(RunRecord, row, "run_id", "workflow_id")
    return record


async def in_rounds(act: Callable[[], Awaitable[T]]) -> T:
    """Write; begin again while another transaction changes the registered run, or the workflow, at the same time."""
    for _ in range(_ROUNDS):
        with contextlib.suppress(RunChanged):
            return await act()
    raise Conflict(Rule("workflow_changes"))
