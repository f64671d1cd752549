"""Executions: jobs of a registered task, created by a schedule or a manual request."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hanbeon.domain.executions import ExecutionType, execution_key, manual_key, scheduled_key
from hanbeon.domain.job import JobRecord, NewJob, OnConflict
from hanbeon.domain.lifecycle import State
from hanbeon.errors import ExecutionNotFound, ExecutionUnfinished, JobNotFound, TaskNotFound
from hanbeon.store.operations.cancel import seq_of
from hanbeon.store.operations.enqueue import Enqueued, check_batch, enqueue
from hanbeon.store.operations.lanes import LaneCache, LaneNumbers
from hanbeon.store.operations.pages import Slice, fit_page, keyed
from hanbeon.store.operations.tasks import KnownTask, find_tasks, lock_tasks, unfinished_executions
from hanbeon.store.records import job_record
from hanbeon.store.tx import Tx, to_json

_LAST = 2**63 - 1


class ExecutionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An execution with its job."""

    job: JobRecord
    type: ExecutionType
    schedule_id: str | None
    scheduled_at: int
    requested_by: str | None
    instance: str | None


class ExecutionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Selects executions to list; an omitted field matches all."""

    task: str | None = None
    states: tuple[State, ...] | None = None
    type: ExecutionType | None = None
    schedule_id: str | None = None


class ExecutionRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An execution to create."""

    id: str
    task: KnownTask
    type: ExecutionType
    args: str
    alone: bool
    schedule_id: str | None = None
    fire_at: int | None = None
    requested_by: str | None = None

    def job(self) -> NewJob:
        """Return its job. It runs by its task's settings: they are updated whenever the task is registered again."""
        settings = self.task.settings
        cause = manual_key(self.id)
        if self.schedule_id is not None and self.fire_at is not None:
            cause = scheduled_key(self.schedule_id, self.fire_at)
        return NewJob(
            id=self.id,
            task=self.task.name,
            args=self.args,
            queue=settings.queue,
            role=settings.role,
            priority=settings.priority,
            timeout_us=settings.timeout_us,
            expires_us=settings.expires_us,
            policy=settings.policy,
            # It counts as waiting since it was due, not since that was noticed.
            run_at_us=self.fire_at,
            idempotency_key=cause,
            unique_key=execution_key(self.task.id, "" if self.alone else self.id),
            on_conflict=OnConflict.SKIP,
        )


class _Row(msgspec.Struct, omit_defaults=True, gc=False):
    """The row of an execution, next to its job."""

    job: int
    task_id: int
    type: ExecutionType
    scheduled_at: int
    schedule_id: str | None = None
    requested_by: str | None = None


async def run_now(tx: Tx, lanes: LaneCache, task: str, args: str, execution_id: str, by: str) -> LaneNumbers:
    """Create a manual run; raises while an execution of the task is unfinished. The returned list is always empty."""
    found = await find_tasks(tx, [task])
    if not found:
        raise TaskNotFound(task)
    (known,) = await lock_tasks(tx, [found[0].id])
    running = await unfinished_executions(tx, [known.id])
    if running and running[known.id] != execution_id:
        raise ExecutionUnfinished(known.name, running[known.id])
    wanted = ExecutionRequest(
        id=execution_id, task=known, type=ExecutionType.MANUAL, args=args, alone=True, requested_by=by
    )
    if not await make(tx, lanes, [wanted]):
        # Retrying an old execution takes no lock on the task, so one may have become unfinished in the meantime.
        running = await unfinished_executions(tx, [known.id])
        if running.get(known.id, execution_id) != execution_id:
            raise ExecutionUnfinished(known.name, running[known.id])
    return []


async def make(tx: Tx, lanes: LaneCache, wanted: Sequence[ExecutionRequest]) -> set[str]:
    """Create executions of tasks that are locked; return the ids of those created.

    Many are copied: the caller has seen under the locks that their keys are free.
    """
    jobs = [each.job() for each in wanted]
    check_batch(jobs)
    # Checked when the schedule was saved: a limit that was lowered since must not hold up all the others.
    lanes = (await lanes.ensure(tx, (job.lane for job in jobs))).unlimited()
    copied = None if tx.fast is None else await tx.fast.copy_jobs(tx, lanes, jobs)
    answers = copied or await enqueue(tx, lanes, jobs)
    rows = [_row(each, answer) for each, answer in zip(wanted, answers, strict=True) if answer.created]
    if rows and (tx.fast is None or not await tx.fast.copy_rows(tx, "execution", rows)):
        await tx.fetch("insert_executions", to_json(rows))
    return {answer.id for answer in answers if answer.created}


def _row(wanted: ExecutionRequest, made: Enqueued) -> _Row:
    at = made.created_at if wanted.fire_at is None else wanted.fire_at
    return _Row(made.seq, wanted.task.id, wanted.type, at, wanted.schedule_id, wanted.requested_by)


async def executions(tx: Tx, filter: ExecutionFilter, before: int | None, limit: int) -> Slice[ExecutionRecord]:
    """Return a page, the newest first; resume before the `seq` of the last one's job."""
    task_id = None
    if filter.task is not None:
        found = await find_tasks(tx, [filter.task])
        if not found:
            return Slice([], False)
        task_id = found[0].id
    sizes = await _page(tx, filter, task_id, _LAST if before is None else before, limit + 1)
    page = fit_page(sizes, limit)
    return page.of(await _records(tx, page.items))


async def _page(tx: Tx, filter: ExecutionFilter, task_id: int | None, before: int, limit: int) -> list[tuple[int, int]]:
    """Return the jobs of a page with their sizes.

    They are found by the most selective condition: each has an index, and the rest of the filter is applied per row.
    """
    states, type, schedule = filter.states, filter.type, filter.schedule_id
    if states is not None and State.SUCCEEDED not in states:
        sizes: dict[int, int] = {}
        for state in states:
            rows = await tx.fetch("executions_in_state", before, limit, state, type, task_id, schedule)
            sizes |= keyed(rows, "seq")
        return sorted(sizes.items(), reverse=True)[:limit]
    among = None if states is None else to_json(states)
    if schedule is not None:
        rows = await tx.fetch("executions_of_schedule", before, limit, among, type, task_id, schedule)
    elif task_id is not None:
        rows = await tx.fetch("executions_of_task", before, limit, among, type, task_id)
    elif type is ExecutionType.MANUAL:
        rows = await tx.fetch("executions_manual", before, limit, among)
    else:
        rows = await tx.fetch("executions", before, limit, among, type)
    return keyed(rows, "seq")


async def execution(tx: Tx, execution_id: str) -> ExecutionRecord:
    found = await find_execution(tx, execution_id)
    if found is None:
        raise ExecutionNotFound(execution_id)
    return found


async def find_execution(tx: Tx, execution_id: str) -> ExecutionRecord | None:
    try:
        found = await _records(tx, [await seq_of(tx, execution_id)])
    except JobNotFound:
        return None
    return found[0] if found else None


async def _records(tx: Tx, seqs: Sequence[int]) -> list[ExecutionRecord]:
    return [
        ExecutionRecord(
            job=job_record(row),
            type=ExecutionType(row["type"]),
            schedule_id=row["schedule_id"],
            scheduled_at=row["scheduled_at"],
            requested_by=row["requested_by"],
            instance=row["instance_name"],
        )
        for row in (await tx.fetch("executions_of", to_json(seqs)) if seqs else ())
    ]
