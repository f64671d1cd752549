"""Read-only queries for jobs, attempts and dependencies."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from hanbeon.domain.bounds import PAGE_BYTES, PAGE_EDGES, PAGE_ROWS
from hanbeon.domain.job import AttemptRecord, JobRecord, is_id
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.domain.outcome import ExceptionText
from hanbeon.errors import JobNotFound
from hanbeon.store.operations import tallies
from hanbeon.store.operations.cancel import CancelFilter, matching
from hanbeon.store.operations.pages import Slice, fit_page, keyed
from hanbeon.store.records import ALL_LANES, attempt_record, job_record, lanes_of_queue
from hanbeon.store.tx import Tx, in_parts, to_json

_BEYOND = 2**63 - 1
_FEW = 10_000
"""Up to this many unfinished jobs are sorted faster than finished ones are skipped; with more, a page fills quickly."""

_JOBS_WITH_DEPENDENCIES = 50
_TRACEBACKS = 20
"""The exceptions that are read of a job with many failed attempts."""
_SHOWN = 80


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Selects jobs to list; an omitted field matches all."""

    queue: str | None = None
    states: tuple[State, ...] | None = None
    task: str | None = None
    role: str | None = None
    work_item: str | None = None
    overdue: bool | None = None
    """For running jobs: only those past their deadline, or only the others; supported by `queue_page` only."""
    newest: bool = False
    """Newest first instead of in creation order; supported by `list_jobs` only."""


class Contents(enum.Enum):
    """The texts of jobs that a list shows: the others are neither read nor counted. The values are statements."""

    ALL = "jobs_by_seq"
    LISTED = "jobs_listed"
    """Without arguments."""
    NODE = "job_nodes"
    """Without arguments, progress, result and message."""


class Dependency(msgspec.Struct, frozen=True):
    id: str
    state: State


async def jobs_by_id(tx: Tx, ids: Sequence[str]) -> list[JobRecord]:
    return [
        job_record(row) for row in await tx.fetch("jobs_by_id", to_json([job_id for job_id in ids if is_id(job_id)]))
    ]


async def job_with_failure(tx: Tx, job_id: str) -> JobRecord:
    """Return a job, with the exception by which its last attempt ended; raises JobNotFound."""
    found = await jobs_by_id(tx, [job_id])
    if not found:
        raise JobNotFound(job_id[:_SHOWN])
    (job,) = found
    if job.failure_type is None:
        return job
    exception = (await _exceptions_of(tx, job_id, 1)).get(job.fence)
    return (
        job
        if exception is None
        else msgspec.structs.replace(job, exception=exception.name, traceback=exception.traceback)
    )


class HeldJob(NamedTuple):
    """A running job, and the instance that runs it."""

    started_at: int
    id: str
    task: str
    instance: int


async def nodes_by_id(tx: Tx, ids: Sequence[str]) -> list[JobRecord]:
    """Return these jobs without arguments, progress, results and messages."""
    known = to_json([job_id for job_id in ids if is_id(job_id)])
    return [job_record(row) for row in await tx.fetch("nodes_by_id", known)]


async def bounded_jobs_by_id(tx: Tx, ids: Sequence[str]) -> list[JobRecord]:
    """Return all of these jobs in one answer: like `nodes_by_id` if their contents are too large for a page."""
    nodes = await nodes_by_id(tx, ids)
    seqs = to_json([job.seq for job in nodes])
    if sum(row["bytes"] for row in await tx.fetch("job_sizes", seqs)) > PAGE_BYTES:
        return nodes
    return [job_record(row) for row in await tx.fetch("jobs_listed", seqs)]


async def list_jobs(
    tx: Tx, filter: JobFilter, after: int = 0, limit: int = 100, batches: tallies.UnfoldedBatches | None = None
) -> list[JobRecord]:
    """Return jobs in creation order after seq `after`, or the newest first before it; 0 is the beginning of both."""
    if filter.states is not None and UNFINISHED.issuperset(filter.states):
        lanes = await lanes_of(tx, filter.queue)
        if lanes is None:
            return []
        counted = await tallies.counts(tx, filter.queue, batches or tallies.UnfoldedBatches())
        if sum(counted[state] for state in filter.states) <= _FEW:
            return await _few_of(tx, filter, filter.states, lanes, after, limit)
    states = None if filter.states is None else to_json(filter.states)
    values = (filter.queue, states, filter.task, filter.role, filter.work_item, limit)
    if filter.newest:
        rows = await tx.fetch("list_jobs_newest", after or _BEYOND, *values)
    else:
        rows = await tx.fetch("list_jobs", after, *values)
    return [job_record(row) for row in rows]


async def _few_of(
    tx: Tx, filter: JobFilter, states: tuple[State, ...], lanes: tuple[int, int], after: int, limit: int
) -> list[JobRecord]:
    """List jobs by the indexes of these states, independent of the number of other jobs."""
    unfinished = CancelFilter(states=states, task=filter.task, role=filter.role, work_item=filter.work_item)
    seqs = (await matching(tx, lanes, unfinished)).seqs
    if filter.newest:
        seqs = [seq for seq in reversed(seqs) if seq < (after or _BEYOND)]
    else:
        seqs = [seq for seq in seqs if seq > after]
    found = [job_record(row) for row in await tx.fetch("jobs_by_seq", to_json(seqs[:limit]))]
    return found[::-1] if filter.newest else found


async def lanes_of(tx: Tx, queue: str | None) -> tuple[int, int] | None:
    """Return the half-open range of the lanes of a queue, or of all queues; None if there is no such queue."""
    if queue is None:
        return ALL_LANES
    for row in await tx.fetch("queue_named", queue):
        return lanes_of_queue(row["id"])
    return None


async def queue_page(
    tx: Tx, filter: JobFilter, after: int, limit: int, contents: Contents = Contents.LISTED
) -> Slice[JobRecord]:
    """List the jobs that a surface created in one queue; the cost does not depend on other queues."""
    queue = await tx.fetch("queue_named", filter.queue)
    if not queue:
        return Slice([], False)
    states = None if filter.states is None else to_json(filter.states)
    values = (after, states, filter.overdue, filter.role, filter.work_item, limit + 1)
    if filter.states is not None and UNFINISHED.issuperset(filter.states):
        rows = await tx.fetch("queue_page_unfinished", *lanes_of_queue(queue[0]["id"]), *values)
    else:
        rows = await tx.fetch("queue_page", queue[0]["id"], *values)
    page: Slice[int] = fit_page(keyed(rows, "seq", f"{contents.name.lower()}_bytes"), limit)
    found = await tx.fetch(contents.value, to_json(page.items)) if page.items else ()
    return page.of([job_record(row) for row in found])


async def dependencies_of_page(tx: Tx, page: Slice[JobRecord]) -> tuple[Slice[JobRecord], dict[str, list[Dependency]]]:
    """Return the page with the dependencies of its jobs, shortened where these are too many.

    In small parts: of jobs with very many each, few are read for nothing.
    """
    found: dict[str, list[Dependency]] = {}
    sizes: list[tuple[JobRecord, int]] = []
    for part in in_parts(page.items, _JOBS_WITH_DEPENDENCIES):
        found |= await dependencies_of_all(tx, part)
        sizes += [(job, len(found.get(job.id, ()))) for job in part]
        if sum(size for _, size in sizes) > PAGE_EDGES:
            break
    kept = fit_page(sizes, len(page.items), PAGE_EDGES)
    return page.of(kept.items), {job.id: found[job.id] for job in kept.items if job.id in found}


async def running_jobs(tx: Tx, limit: int) -> list[JobRecord]:
    """Return the running jobs, longest-running first, without arguments."""
    found = await bounded_jobs_by_id(tx, [job.id for job in await held_jobs(tx, limit)])
    return sorted(found, key=lambda job: (job.started_at or 0, job.seq))


async def held_jobs(tx: Tx, limit: int) -> list[HeldJob]:
    """Return the running jobs, longest-running first: one statement for any number of queues."""
    rows = await tx.fetch("holders", *ALL_LANES, limit)
    return sorted(HeldJob(row["started_at"], str(row["id"]), row["task"], row["instance"]) for row in rows)


async def now_us(tx: Tx) -> int:
    return int((await tx.fetch("now"))[0]["now"])


async def attempts_of(tx: Tx, job_id: str) -> list[AttemptRecord]:
    """Return the attempts of a job in order; the latest exceptions with their tracebacks."""
    rows = await tx.fetch("attempts_of", job_id) if is_id(job_id) else []
    exceptions = await _exceptions_of(tx, job_id, _TRACEBACKS) if any(row["failure_type"] for row in rows) else {}
    return [attempt_record(row, exceptions.get(row["attempt"])) for row in rows]


async def _exceptions_of(tx: Tx, job_id: str, limit: int) -> dict[int, ExceptionText]:
    rows = await tx.fetch("exceptions_of", job_id, limit)
    return {row["attempt"]: ExceptionText(row["exception"], row["traceback"]) for row in rows}


async def latest_attempts(tx: Tx, job_id: str) -> list[AttemptRecord]:
    """Return the attempts of a job in order; of very many, the latest ones."""
    rows = await tx.fetch("latest_attempts", job_id, PAGE_ROWS) if is_id(job_id) else []
    return [attempt_record(row) for row in reversed(rows)]


async def dependencies_of(tx: Tx, job_id: str) -> list[Dependency]:
    rows = await tx.fetch("dependencies_of", job_id) if is_id(job_id) else []
    return [Dependency(str(row["id"]), State(row["state"])) for row in rows]


async def dependencies_of_all(tx: Tx, jobs: Sequence[JobRecord]) -> dict[str, list[Dependency]]:
    """Return the dependencies of each of these jobs, in creation order; a job without dependencies is omitted."""
    ids = {job.seq: job.id for job in jobs}
    found: dict[str, list[Dependency]] = {}
    for row in await tx.fetch("dependencies_of_all", to_json(list(ids))) if ids else ():
        found.setdefault(ids[row["dependent"]], []).append(Dependency(str(row["id"]), State(row["state"])))
    return found
