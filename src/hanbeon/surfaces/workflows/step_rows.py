"""Checkpoints of a run: written under the fence of its attempt, before the next step begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.lease import Lease
from hanbeon.store.operations.queries import jobs_by_id
from hanbeon.store.tx import Tx, to_json
from hanbeon.surfaces.workflows.rows import stored
from hanbeon.surfaces.workflows.vocabulary import DeliveryStatus, StepStatus, StepType


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A step that has begun; `output` is JSON text."""

    run_id: str
    step_index: int
    name: str
    type: StepType
    status: StepStatus
    attempts: int
    unknown: int
    fence: int
    started_at: int
    output: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    step_job: str | None = None
    until: int | None = None
    ended_at: int | None = None


class DeliveryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The message to the nth recipient of a step."""

    run_id: str
    step_index: int
    n: int
    status: DeliveryStatus
    attempts: int
    unknown: int
    fence: int
    changed_at: int
    error_message: str | None = None


class PutOffUntil(msgspec.Struct, frozen=True):
    """The run is put off; `retries`: 1 if that is for a retry."""

    due_at: int
    retries: int = 0


async def hold(tx: Tx, lease: Lease) -> int | None:
    """Lock the job of a lease, and return the time; None if the lease is gone, and nothing may be written any more."""
    rows = await tx.fetch("hold_job", *lease)
    return rows[0]["now"] if rows else None


async def write_checkpoint(
    tx: Tx,
    lease: Lease,
    step: StepRecord | None = None,
    deliveries: Sequence[DeliveryRecord] = (),
    put_off: PutOffUntil | None = None,
) -> bool:
    """Write what a run has reached; False if the lease is gone."""
    if await hold(tx, lease) is None:
        return False
    if step is not None:
        await tx.fetch("put_workflow_step", to_json([step]))
    if deliveries:
        await tx.fetch("put_workflow_deliveries", to_json(deliveries))
    if put_off is not None:
        await tx.fetch("put_off_workflow_run", lease.seq, put_off.due_at, put_off.retries)
    return True


async def start_step_job(
    tx: Tx, lanes: LaneCache, lease: Lease, step: StepRecord, job: NewJob, put_off: PutOffUntil
) -> bool:
    """Create the job that a task step waits for, and record it; False if the lease is gone."""
    if not await write_checkpoint(tx, lease, step, (), put_off):
        return False
    lanes = await lanes.ensure(tx, [job.lane])
    await enqueues.enqueue(tx, lanes, [job])
    return True


async def steps_of(tx: Tx, run_ids: Sequence[str]) -> dict[str, list[StepRecord]]:
    """Return the steps of runs that have begun, in order."""
    found: dict[str, list[StepRecord]] = {run_id: [] for run_id in run_ids}
    for row in await tx.fetch("steps_of_workflow_runs", to_json(list(run_ids))):
        step = step_record(row)
        found[step.run_id].append(step)
    return found


async def deliveries_of(tx: Tx, run_ids: Sequence[str]) -> dict[str, list[DeliveryRecord]]:
    found: dict[str, list[DeliveryRecord]] = {run_id: [] for run_id in run_ids}
    for row in await tx.fetch("deliveries_of_workflow_runs", to_json(list(run_ids))):
        delivery: DeliveryRecord = stored(DeliveryRecord, row, "run_id")
        found[delivery.run_id].append(delivery)
    return found


class StepJobEnd(msgspec.Struct, frozen=True):
    """The state of the job that a step waits for; None: it was pruned."""

    state: State | None
    result: str | None = None
    failure_type: str | None = None
    message: str | None = None


async def step_job_end(tx: Tx, job_id: str) -> StepJobEnd:
    for job in await jobs_by_id(tx, [job_id]):
        return StepJobEnd(job.state, job.result, job.failure_type, job.error_message)
    return StepJobEnd(None)


def step_record(row: Any) -> StepRecord:
    record: StepRecord = stored(StepRecord, row, "run_id", "step_job")
    return record
