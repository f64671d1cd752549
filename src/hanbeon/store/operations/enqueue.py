"""Enqueue: create the whole batch of jobs or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from hanbeon.domain.batch import Batch, digest_of
from hanbeon.domain.events import event_factory, moved
from hanbeon.domain.graph import find_cycle
from hanbeon.domain.job import LaneName, NewJob, OnConflict, is_id
from hanbeon.domain.lifecycle import UNFINISHED, Reason, State
from hanbeon.errors import (
    Conflict,
    DependencyCycle,
    IdAlreadyUsed,
    InvalidInput,
    UniqueKeyTaken,
    UnknownDependency,
)
from hanbeon.quotation import quoted
from hanbeon.rule import Rule
from hanbeon.store.job_columns import NEW, new_values
from hanbeon.store.operations.cancel import replace
from hanbeon.store.operations.dependencies import UnmetCount, fail_dependents, promote_these
from hanbeon.store.operations.expire import write_expiries
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.queries import jobs_by_id
from hanbeon.store.operations.traces import write_traces
from hanbeon.store.records import policy_text, queue_of
from hanbeon.store.tx import Tx, in_parts, ready_hint, to_json

_ROUNDS = 5
_EDGES_A_JOB = 4
"""Dependencies that take as long to write as a job."""
_JOBS_AT_ONCE, _EDGES_AT_ONCE = 5_000, 20_000
# By a dictionary: the call of an enumeration is Python code.
_STATES = {state.value: state for state in State}


class Enqueued(msgspec.Struct, frozen=True, gc=False):
    """The result for one requested job: its id (that of an earlier job, if `created` is false) and state."""

    id: str
    state: State
    created: bool
    seq: int = 0
    created_at: int = 0
    """Like `seq`, set only for jobs that were created just now."""


Make = Callable[[Tx, LaneCache], Awaitable[list[Enqueued]]]


class RowVersion(NamedTuple):
    """A precondition of an enqueue: a row exists at this version, and stays so until the commit.

    `statement` names the statement that locks the row by its id and returns its `version`, so that the owner of the
    table decides what a job depends on.
    """

    statement: str
    id: str
    version: int


# A job as sent to the database. Defaults are omitted: the statement fills them in, which halves the payload.
_Row: Callable[..., msgspec.Struct] = msgspec.defstruct(
    "_Row",
    [
        *(
            ("ord", int),
            ("delay", Any, None),
            ("run_at", Any, None),
            ("blocked", bool, False),
            ("recount", bool, False),
        ),
        *((column.name, Any, column.default) for column in NEW),
    ],
    omit_defaults=True,
    gc=False,
)


def check_batch(jobs: Sequence[NewJob]) -> None:
    """Check what needs no database: duplicate ids and keys, and cycles."""
    if len(jobs) == 1 and not jobs[0].depends_on:
        return
    for field in ("id", "idempotency_key", "unique_key"):
        values = [value for job in jobs if (value := getattr(job, field)) is not None]
        if len(set(values)) < len(values):
            double = next(value for value, count in Counter(values).items() if count > 1)
            raise InvalidInput(Rule("unique_in_batch", got=quoted(double)), field=field)
    if any(job.depends_on for job in jobs):
        cycle = find_cycle({job.id: job.depends_on for job in jobs})
        if cycle is not None:
            raise DependencyCycle(cycle)


async def enqueue(tx: Tx, lanes: LaneCache, jobs: Sequence[NewJob], *, lasting: bool = False) -> list[Enqueued]:
    """Create the jobs in array order. `lanes` must know their lanes; the batch must have passed `check_batch`.

    `lasting`: the transaction may stay open for long while others run, so it takes no lock that a completion could wait
    for. Jobs that depend on unfinished ones of other batches are then recounted after its commit; see `recount`.
    """
    if len(jobs) == 1 and tx.fast is not None:
        one = await tx.fast.enqueue_within(tx, lanes, jobs[0])
        if one is not None:
            return [one]
    outside = await _dependencies_outside(tx, lanes, jobs, lasting)
    digests = dict(zip([job.id for job in jobs], _digests(jobs), strict=True))
    rows = {job.id: _row(order, job, lanes, outside, digests[job.id], lasting) for order, job in enumerate(jobs)}
    made: dict[str, Any] = {}
    answers: dict[str, Enqueued] = {}
    replacing = [job for job in jobs if job.unique_key is not None and job.on_conflict is OnConflict.REPLACE_PENDING]
    if replacing:
        # Replace first: a job inserted in a later round would get a place after those that follow it in the array.
        answers |= await _resolve(tx, lanes, replacing, digests, lasting)
    for _ in range(_ROUNDS):
        todo = [job for job in jobs if job.id not in made and job.id not in answers]
        for part in in_parts(todo, _JOBS_AT_ONCE):
            for row in await tx.fetch("insert_jobs", to_json([rows[job.id] for job in part])):
                made[str(row["id"])] = row
        refused = [job for job in todo if job.id not in made]
        if not refused:
            break
        answers |= await _resolve(tx, lanes, refused, digests, lasting)
    else:
        raise Conflict(Rule("unique_keys_change"))

    existing = await _existing_dependencies(tx, jobs, made, answers, lasting)
    free = await _insert_edges(tx, jobs, made, outside | existing, existing, lasting)
    build = event_factory(Reason.ENQUEUED, State.READY)
    for job in jobs:
        if job.id in made:
            row = made[job.id]
            at, state = row["created_at"], _STATES[row["state"]]
            answers[job.id] = Enqueued(job.id, state, True, row["seq"], at)
            if state is State.READY and not job.depends_on:
                tx.emit(build(at, job.queue, job.id, job.task))
                continue
            details: dict[str, Any] = {"run_at": row["run_at"]} if state is State.PENDING else {}
            if job.depends_on:
                details["depends_on"] = list(job.depends_on)
            reason = Reason.ENQUEUED if state is State.READY else Reason.SCHEDULED
            tx.emit(moved(reason, at=at, queue=job.queue, job_id=job.id, task=job.task, state=state, **details))
    await write_expiries(tx, jobs, made)
    if tx.tracing is not None:
        await write_traces(tx, list(answers.values()))
    ready = [job.task for job in jobs if job.id in made and answers[job.id].state is State.READY]
    if ready:
        tx.wake(ready_hint(ready))
    if len(ready) < len(made):
        tx.wake("later")
    if free and await promote_these(tx, lanes, [made[job_id]["seq"] for job_id in free]):
        answers |= {
            row.id: Enqueued(row.id, row.state, True, row.seq, row.created_at) for row in await jobs_by_id(tx, free)
        }
    if lasting:
        return [answers[job.id] for job in jobs]  # Even after a failed dependency: failing may lock others' jobs.
    if replacing and outside:
        outside = {str(row["id"]): row for row in await tx.fetch("dependencies", to_json(sorted(outside)))}
    # Only for created jobs: a skipped one changes nothing for others that wait for the same.
    awaited = dict.fromkeys(dependency for job in jobs if job.id in made for dependency in job.depends_on)
    rows_of = outside | existing
    ended = (State.FAILED, State.CANCELLED)
    hopeless = [rows_of[each]["seq"] for each in awaited if each in rows_of and rows_of[each]["state"] in ended]
    if hopeless:
        failed = await fail_dependents(tx, lanes, hopeless)
        answers |= {job_id: Enqueued(job_id, State.FAILED, True) for job_id in failed if job_id in made}
    return [answers[job.id] for job in jobs]


def _digests(jobs: Sequence[NewJob]) -> list[str]:
    return jobs.digests() if isinstance(jobs, Batch) else [digest_of(job) for job in jobs]


def lanes_of(jobs: Sequence[NewJob]) -> Iterator[LaneName]:
    """Return the lanes of these jobs; for a batch, one per template."""
    return (each.lane for each in (jobs.templates if isinstance(jobs, Batch) else jobs))


def weight(jobs: Sequence[NewJob]) -> int:
    """Return how much work a batch is, in jobs."""
    return len(jobs) + sum(len(job.depends_on) for job in jobs) // _EDGES_A_JOB


async def _fetch_dependencies(tx: Tx, ids: Sequence[str], lasting: bool) -> dict[str, Any]:
    """Return dependencies by id, locked against changes until the commit; if `lasting`, only against pruning."""
    name = "kept_dependencies" if lasting else "dependencies"
    return {str(row["id"]): row for row in await tx.fetch(name, to_json(ids))} if ids else {}


async def _dependencies_outside(tx: Tx, lanes: LaneCache, jobs: Sequence[NewJob], lasting: bool) -> dict[str, Any]:
    """Return the dependencies outside this batch; all must exist in the dependent's queue."""
    if not any(job.depends_on for job in jobs):
        return {}
    inside = {job.id: job for job in jobs}
    needed = set().union(*(job.depends_on for job in jobs)) - inside.keys()
    if not needed and len({job.queue for job in jobs}) == 1:
        return {}
    ids = sorted(dep for dep in needed if is_id(dep))
    found = await _fetch_dependencies(tx, ids, lasting)
    for job in jobs:
        queue_id = queue_of(lanes.number(job.lane))
        unknown = [dep for dep in job.depends_on if dep not in inside and dep not in found]
        if unknown:
            raise UnknownDependency(Rule("unknown_dependency", job=job.id, others=unknown), unknown)
        foreign = [
            dep
            for dep in job.depends_on
            if (inside[dep].queue != job.queue if dep in inside else queue_of(found[dep]["lane"]) != queue_id)
        ]
        _refuse_foreign(job, foreign)
    return found


async def _existing_dependencies(
    tx: Tx, jobs: Sequence[NewJob], made: dict[str, Any], answers: dict[str, Enqueued], lasting: bool
) -> dict[str, Any]:
    """Return the rows of earlier jobs that stand for jobs of the batch on which new jobs depend."""
    ids = {dep: answers[dep].id for job in jobs if job.id in made for dep in job.depends_on if dep in answers}
    if not ids:
        return {}
    rows = await _fetch_dependencies(tx, sorted(set(ids.values())), lasting)
    existing = {dep: rows[job_id] for dep, job_id in ids.items()}
    for job in jobs:
        if job.id in made:
            # A unique key may be held by a job of another queue.
            queue_id = queue_of(made[job.id]["lane"])
            _refuse_foreign(
                job, [d for d in job.depends_on if d in existing and queue_of(existing[d]["lane"]) != queue_id]
            )
    return existing


def _refuse_foreign(job: NewJob, foreign: list[str]) -> None:
    if foreign:
        raise UnknownDependency(
            Rule("dependency_of_other_queue", job=job.id, queue=quoted(job.queue), others=foreign),
            foreign,
        )


def _row(
    order: int, job: NewJob, lanes: LaneCache, outside: dict[str, Any], digest: str, lasting: bool
) -> msgspec.Struct:
    return _Row(
        order,
        job.delay_us,
        job.run_at_us,
        any(dep not in outside or outside[dep]["state"] != State.SUCCEEDED for dep in job.depends_on),
        lasting and _may_end_unseen(job, outside),
        *new_values(job, lanes.lane_of(job), policy_text(job.policy), digest),
    )


def _may_end_unseen(job: NewJob, found: dict[str, Any]) -> bool:
    return any(dep in found and found[dep]["state"] != State.SUCCEEDED for dep in job.depends_on)


async def _resolve(
    tx: Tx, lanes: LaneCache, refused: list[NewJob], digests: dict[str, str], lasting: bool
) -> dict[str, Enqueued]:
    """Resolve jobs that the unique indexes rejected; those missing from the answer are to be inserted again."""
    rows = await tx.fetch(
        "conflicting_jobs",
        to_json([job.id for job in refused]),
        to_json([job.idempotency_key for job in refused if job.idempotency_key is not None]),
        to_json([job.unique_key for job in refused if job.unique_key is not None]),
    )
    by_id = {str(row["id"]): row for row in rows}
    by_idempotency = {row["idempotency_key"]: row for row in rows if row["idempotency_key"] is not None}
    by_unique = {row["unique_key"]: row for row in rows if row["unique_key"] is not None and row["state"] in UNFINISHED}
    answers: dict[str, Enqueued] = {}
    # In key order, not in batch order: replacing locks the holders, and two batches would deadlock.
    for job in sorted(refused, key=lambda job: job.unique_key or ""):
        same = by_id.get(job.id) or (by_idempotency.get(job.idempotency_key) if job.idempotency_key else None)
        if same is not None:
            if same["digest"] != digests[job.id]:
                what, value = ("id", job.id) if job.id in by_id else ("idempotency_key", job.idempotency_key or "")
                raise IdAlreadyUsed(what, value, str(same["id"]))
            answers[job.id] = Enqueued(str(same["id"]), State(same["state"]), False)
            continue
        holder = by_unique.get(job.unique_key) if job.unique_key else None
        if holder is None:
            continue  # The holder finished in the meantime: the next round inserts.
        holder_id = str(holder["id"])
        if job.on_conflict is OnConflict.SKIP:
            answers[job.id] = Enqueued(holder_id, State(holder["state"]), False)
        elif job.on_conflict is OnConflict.REFUSE or not await replace(tx, lanes, holder_id, job.id, lasting=lasting):
            raise UniqueKeyTaken(job.unique_key or "", holder_id, holder["state"])
    return answers


async def _insert_edges(
    tx: Tx,
    jobs: Sequence[NewJob],
    made: dict[str, Any],
    found: dict[str, Any],
    existing: dict[str, Any],
    lasting: bool,
) -> list[str]:
    """Write the edges of the new jobs; return the ids of those that turn out to wait for nothing.

    They were inserted as waiting for jobs of the batch, some of which have turned out to be `existing` and finished.
    """
    edges, counts, wrong, free = [], [], [], []
    for job in jobs:
        if not job.depends_on or job.id not in made:
            continue
        seq = made[job.id]["seq"]
        if not found:
            dependencies = list(dict.fromkeys(made[dep]["seq"] for dep in job.depends_on))
            waits_for = len(dependencies)
        else:
            states = {row["seq"]: row["state"] for row in (found.get(dep) or made[dep] for dep in job.depends_on)}
            dependencies = list(states)
            waits_for = sum(state != State.SUCCEEDED for state in states.values())
        edges += [{"dependency": dependency, "dependent": seq} for dependency in dependencies]
        count = UnmetCount(seq, waits_for, recount=lasting and _may_end_unseen(job, found))
        counts.append(count)
        if not existing.keys().isdisjoint(job.depends_on):
            wrong.append(count)
            if not waits_for:
                free.append(job.id)
    for part in in_parts(edges, _EDGES_AT_ONCE):
        await tx.fetch("insert_edges", to_json(part))
    for some in in_parts(counts, _EDGES_AT_ONCE):
        await tx.fetch("insert_unmet", to_json(some))
    if wrong:
        await tx.fetch("set_blocked", to_json(wrong))
    return free
