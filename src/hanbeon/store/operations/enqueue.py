"""Jobs come into being: the whole batch or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from hanbeon.domain.events import moved
from hanbeon.domain.graph import find_cycle
from hanbeon.domain.job import NewJob, OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.errors import (
    Conflict,
    DependencyCycle,
    IdAlreadyUsed,
    InvalidInput,
    UniqueKeyTaken,
    UnknownDependency,
)
from hanbeon.store.operations.cancel import replace
from hanbeon.store.operations.depend import fail_dependents
from hanbeon.store.operations.lanes import LaneBook
from hanbeon.store.records import queue_of
from hanbeon.store.tx import Tx, to_json

_ROUNDS = 5


class Enqueued(msgspec.Struct, frozen=True):
    """What became of one asked-for job: its id (an earlier job's, if `created` is false) and state."""

    id: str
    state: State
    created: bool


class _Row(msgspec.Struct):
    ord: int
    id: str
    lane: int
    urgent: bool
    priority: int
    delay: int | None
    run_at: int | None
    unmet: int
    on_dependency_failure: OnDependencyFailure
    timeout_us: int | None
    policy: str
    args: str
    idempotency_key: str | None
    unique_key: str | None
    digest: str
    work_item: str | None
    meta: str | None


def check_batch(jobs: Sequence[NewJob]) -> None:
    """What can be refused without looking at the database: doubled ids and keys, and cycles."""
    for field in ("id", "idempotency_key", "unique_key"):
        values = [value for job in jobs if (value := getattr(job, field)) is not None]
        if len(set(values)) < len(values):
            double = next(value for value in values if values.count(value) > 1)
            raise InvalidInput(f"{double!r} comes twice in this batch; each job needs its own", field=field)
    if any(job.depends_on for job in jobs):
        cycle = find_cycle({job.id: job.depends_on for job in jobs})
        if cycle is not None:
            raise DependencyCycle(cycle)


async def enqueue(tx: Tx, book: LaneBook, jobs: Sequence[NewJob]) -> list[Enqueued]:
    """Create the jobs in array order. Lanes must be known to `book`; the batch must have passed `check_batch`."""
    outside = await _dependencies_outside(tx, book, jobs)
    digests = {job.id: job.digest() for job in jobs}
    rows = [_row(order, job, book, outside, digests[job.id]) for order, job in enumerate(jobs)]
    made: dict[str, Any] = {}
    answers: dict[str, Enqueued] = {}
    wanted = {job.id: job for job in jobs}
    for _ in range(_ROUNDS):
        todo = [row for row in rows if row.id not in made and row.id not in answers]
        if not todo:
            break
        for row in await tx.fetch("insert_jobs", to_json(todo)):
            made[str(row["id"])] = row
        refused = [wanted[row.id] for row in todo if row.id not in made]
        if refused:
            answers |= await _resolve(tx, book, refused, digests)
    else:
        raise Conflict("the jobs that hold these unique keys change faster than they can be replaced; try again")

    await _insert_edges(tx, jobs, made, outside)
    for job in jobs:
        if job.id in made:
            row = made[job.id]
            state = State(row["state"])
            answers[job.id] = Enqueued(job.id, state, True)
            reason = Reason.ENQUEUED if state is State.READY else Reason.SCHEDULED
            tx.emit(
                moved(
                    reason,
                    at=row["created_at"],
                    queue=job.queue,
                    job_id=job.id,
                    task=job.task,
                    state=state,
                    run_at=row["run_at"] if state is State.PENDING else None,
                    depends_on=list(job.depends_on) or None,
                )
            )
    if made:
        tx.wake("work")
    hopeless = [row["seq"] for row in outside.values() if row["state"] in (State.FAILED, State.CANCELLED)]
    if hopeless:
        failed = await fail_dependents(tx, book, hopeless)
        answers |= {job_id: Enqueued(job_id, State.FAILED, True) for job_id in failed if job_id in answers}
    return [answers[job.id] for job in jobs]


async def _dependencies_outside(tx: Tx, book: LaneBook, jobs: Sequence[NewJob]) -> dict[str, Any]:
    """The dependencies that are not of this batch, share-locked; all must exist in the dependent's queue."""
    inside = {job.id: job for job in jobs}
    ids = sorted({dep for job in jobs for dep in job.depends_on} - inside.keys())
    found = {str(row["id"]): row for row in await tx.fetch("dependencies", to_json(ids))} if ids else {}
    for job in jobs:
        queue_id = queue_of(book.number(job.lane))
        unknown = [dep for dep in job.depends_on if dep not in inside and dep not in found]
        if unknown:
            raise UnknownDependency(f"job {job.id} depends on {', '.join(unknown)}, which do not exist", unknown)
        foreign = [
            dep
            for dep in job.depends_on
            if (inside[dep].queue != job.queue if dep in inside else queue_of(found[dep]["lane"]) != queue_id)
        ]
        if foreign:
            raise UnknownDependency(
                f"job {job.id} of queue {job.queue!r} depends on {', '.join(foreign)} of another queue; "
                "dependencies must be in the same queue",
                foreign,
            )
    return found


def _row(order: int, job: NewJob, book: LaneBook, outside: dict[str, Any], digest: str) -> _Row:
    unmet = sum(1 for dep in set(job.depends_on) if dep not in outside or outside[dep]["state"] != State.SUCCEEDED)
    return _Row(
        ord=order,
        id=job.id,
        lane=book.number(job.lane),
        urgent=job.urgent,
        priority=job.priority,
        delay=job.delay_us,
        run_at=job.run_at_us,
        unmet=unmet,
        on_dependency_failure=job.on_dependency_failure,
        timeout_us=job.timeout_us,
        policy=to_json(job.policy),
        args=job.args,
        idempotency_key=job.idempotency_key,
        unique_key=job.unique_key,
        digest=digest,
        work_item=job.work_item,
        meta=job.meta,
    )


async def _resolve(tx: Tx, book: LaneBook, refused: list[NewJob], digests: dict[str, str]) -> dict[str, Enqueued]:
    """Answer for jobs the unique indexes kept out; those not answered are to be inserted again."""
    rows = await tx.fetch(
        "conflicting_jobs",
        to_json([job.id for job in refused]),
        to_json([job.idempotency_key for job in refused if job.idempotency_key is not None]),
        to_json([job.unique_key for job in refused if job.unique_key is not None]),
    )
    by_id = {str(row["id"]): row for row in rows}
    by_idempotency = {row["idempotency_key"]: row for row in rows if row["idempotency_key"] is not None}
    by_unique = {row["unique_key"]: row for row in rows if row["unique_key"] is not None}
    answers: dict[str, Enqueued] = {}
    for job in refused:
        same = by_id.get(job.id) or (by_idempotency.get(job.idempotency_key) if job.idempotency_key else None)
        if same is not None:
            if same["digest"] != digests[job.id]:
                what, value = ("id", job.id) if job.id in by_id else ("idempotency_key", job.idempotency_key or "")
                raise IdAlreadyUsed(what, value, str(same["id"]))
            answers[job.id] = Enqueued(str(same["id"]), State(same["state"]), False)
            continue
        holder = by_unique.get(job.unique_key) if job.unique_key else None
        if holder is None:
            continue  # The holder finished meanwhile: the next round inserts.
        holder_id = str(holder["id"])
        if job.on_conflict is OnConflict.SKIP:
            answers[job.id] = Enqueued(holder_id, State(holder["state"]), False)
        elif job.on_conflict is OnConflict.REFUSE or not await replace(tx, book, holder_id, job.id):
            raise UniqueKeyTaken(job.unique_key or "", holder_id, holder["state"])
    return answers


async def _insert_edges(tx: Tx, jobs: Sequence[NewJob], made: dict[str, Any], outside: dict[str, Any]) -> None:
    edges = [
        {"dependency": (outside.get(dep) or made[dep])["seq"], "dependent": made[job.id]["seq"]}
        for job in jobs
        if job.id in made
        for dep in dict.fromkeys(job.depends_on)
    ]
    if edges:
        await tx.fetch("insert_edges", to_json(edges))
