"""Creation of an office's jobs: all of a batch or none, by the sessions and the config of that moment."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from hanbeon.domain.batch import Batch
from hanbeon.domain.job import JobRecord, NewJob, as_made
from hanbeon.domain.lifecycle import State
from hanbeon.errors import Changed, Conflict, IdAlreadyUsed, UnknownDependency
from hanbeon.rule import Rule
from hanbeon.store.operations import queries
from hanbeon.store.operations.enqueue import Enqueued, RowVersion
from hanbeon.store.operations.queries import Dependency
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from hanbeon.surfaces.offices.job_plan import PlannedJob, arguments_of, kind_of, meta_of, meta_text, new_job
from hanbeon.surfaces.offices.resolve import Handlers, remembering
from hanbeon.surfaces.offices.roles import keep_with_roles
from hanbeon.surfaces.offices.rows import OfficeRecord, office_by_id
from hanbeon.surfaces.validation import inside

_ROUNDS = 10


class Jobs(NamedTuple):
    """Jobs and what they depend on, as they were at one instant."""

    jobs: Sequence[JobRecord]
    dependencies: Mapping[str, Sequence[Dependency]]
    now: int


async def make_jobs(
    store: Store, office: OfficeRecord, planned: Sequence[PlannedJob], handlers: Handlers, max_payload_bytes: int
) -> Jobs:
    """Create the jobs that do not exist yet; return all, in order, as the transaction that created them left them.

    The handler of a job is decided before its transaction, which then finds the office unchanged or starts over: a
    change of the sessions is either seen here, or sees the jobs that still lack a handler.
    """
    ids = [each.id for each in planned]
    for _ in range(_ROUNDS):
        made = await _made_before(store, office, planned)
        jobs = _new_jobs(planned, made, office, handlers, max_payload_bytes)
        if not jobs:
            return await store.read(lambda tx: _results(tx, ids, {}, {}))
        try:
            return await _enqueue(store, office, ids, jobs)
        except UnknownDependency as error:
            # A job of another office is as unknown here as one that never was.
            unknown = ", ".join(error.ids)
            number = next(number for number, each in enumerate(planned) if error.ids[0] in each.depends_on)
            with inside(f"jobs[{number}]"):
                raise UnknownDependency(Rule("dependency_of_other_office", jobs=unknown), error.ids) from error
        except Changed:
            office = await _again(store, office)
    raise Conflict(Rule("office_changes", office=office.id))


async def _again(store: Store, office: OfficeRecord) -> OfficeRecord:
    return await store.read(lambda tx: office_by_id(tx, office.id))


async def _enqueue(store: Store, office: OfficeRecord, ids: Sequence[str], jobs: Sequence[NewJob]) -> Jobs:
    """Read the results before the commit: after it, a worker may change the jobs first."""
    found: list[Jobs] = []
    if len(ids) == len(jobs) == 1:
        one = await store.enqueue_one(jobs[0], RowVersion("keep_office", office.id, office.version))
        if one is not None:
            return Jobs([_as_made(jobs[0], one)], {}, one.created_at)

    async def look(tx: Tx, answers: Sequence[Enqueued]) -> None:
        made = {each.id: each for each in answers if each.created}
        found[:] = [await _results(tx, ids, {job.id: job for job in jobs}, made)]

    async def keep(tx: Tx) -> None:
        await keep_with_roles(tx, store.lanes, office, ids, jobs)

    await store.enqueue(jobs, first=keep, last=look)
    return found[0]


async def _results(tx: Tx, ids: Sequence[str], jobs: Mapping[str, NewJob], made: Mapping[str, Enqueued]) -> Jobs:
    """Return these jobs. Only what their creation does not determine is read, which is little of a large batch."""
    known: dict[str, JobRecord] = {}
    dependencies: dict[str, Sequence[Dependency]] = {}
    for job_id, answer in made.items():
        job = jobs[job_id]
        if answer.state is not State.FAILED and made.keys() >= set(job.depends_on):
            known[job_id] = _as_made(job, answer)
            waits_for = sorted((made[each] for each in set(job.depends_on)), key=lambda each: each.seq)
            dependencies[job_id] = [Dependency(each.id, each.state) for each in waits_for]
    others = [job_id for job_id in ids if job_id not in known]
    now = 0  # Irrelevant for jobs that do not run.
    if others:
        found = await queries.bounded_jobs_by_id(tx, others)
        dependencies |= await queries.dependencies_of_all(tx, found)
        known |= {job.id: job for job in found}
        now = await queries.now_us(tx)
    return Jobs([known[job_id] for job_id in ids], dependencies, now)


def _as_made(job: NewJob, answer: Enqueued) -> JobRecord:
    return as_made(job, seq=answer.seq, state=answer.state, created_at=answer.created_at)


async def _made_before(store: Store, office: OfficeRecord, planned: Sequence[PlannedJob]) -> set[str]:
    """Ids of jobs that an earlier request created with the same contents; with other contents they are a conflict.

    The requests are compared, not the jobs: the handler that the sessions gave a job may be another one today.
    """
    chosen = {each.id: each for each in planned if each.may_exist}
    found = await store.read(lambda tx: queries.nodes_by_id(tx, list(chosen))) if chosen else []
    for job in found:
        if job.queue != office.queue or meta_of(job.meta).asked != chosen[job.id].digest:
            raise IdAlreadyUsed("id", job.id, job.id)
    return {job.id for job in found}


def _new_jobs(
    planned: Sequence[PlannedJob], made: set[str], office: OfficeRecord, handlers: Handlers, max_payload_bytes: int
) -> Batch:
    """Build the jobs. Most of a batch are of few kinds, and what a kind shares is checked once."""
    batch, how_by = Batch(max_payload_bytes), remembering(office, handlers)
    kinds: dict[Hashable, int] = {}
    for number, each in enumerate(planned):
        if each.id in made:
            continue
        with inside(f"jobs[{number}]"):
            kind = kind_of(each)
            if kind is not None and (known := kinds.get(kind)) is not None:
                batch.add_alike(known, each.id, arguments_of(each, office, handlers), meta_text(each))
                continue
            added = batch.add(new_job(each, office, handlers, how_by))
            if kind is not None:
                kinds[kind] = added
    return batch
