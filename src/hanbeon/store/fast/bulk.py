"""The fast path for many jobs on PostgreSQL: rows are streamed by COPY and encoded while the server writes.

It takes jobs that wait for nothing and have no keys. COPY costs the server half of an INSERT that checks for conflicts.
If there is one, an id that already exists, it fails as a whole, and the general path handles the conflict.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NamedTuple

from hanbeon.domain.batch import Batch
from hanbeon.domain.events import Event, event_factory, moved
from hanbeon.domain.job import NewJob, rank_of
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.fast.copy import LINES_AT_ONCE, NULL, WORTH_IT, copy_rows, escaped, text_of
from hanbeon.store.job_columns import NEW, new_values
from hanbeon.store.operations.enqueue import Enqueued, Make, enqueue
from hanbeon.store.operations.events import write_alike
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.traces import write_traces
from hanbeon.store.records import policy_text
from hanbeon.store.tx import Copy, Tx, in_parts, ready_hint

# Keeps each statement below the statement timeout.
_JOBS_AT_ONCE = 5_000
_KEYED_COLUMNS = ("seq", "state", "rank", "run_at", "created_at", *(column.name for column in NEW))
_OWN = ("id", "args", "digest", "meta")
# The columns that jobs of one kind share; those in which a line differs from others of its kind are around them.
_SHARED = ("state", "rank", "run_at", "created_at", *(each.name for each in NEW if each.name not in _OWN))


def in_bulk(jobs: Sequence[NewJob]) -> Make | None:
    """Return the operation that creates these jobs by the fast path; None if they need the general one.

    It must be passed a cache that knows their lanes. In a transaction without COPY it takes the general path.
    """
    if not isinstance(jobs, Batch) or len(jobs) < WORTH_IT or not all(_is_plain(kind) for kind in jobs.kinds):
        return None
    if len(set(jobs.ids)) < len(jobs):
        return None
    batch = jobs

    async def make(tx: Tx, lanes: LaneCache) -> list[Enqueued]:
        return await (enqueue(tx, lanes, batch) if tx.copy is None else _make(tx, tx.copy, lanes, batch))

    return make


def _is_plain(job: NewJob) -> bool:
    return not job.waits and job.idempotency_key is None and job.unique_key is None


class _Kind(NamedTuple):
    """The shared parts of the lines of a kind."""

    between: str
    """The columns between a job's id and its arguments."""
    digest: Callable[[str, str | None], str]


async def _make(tx: Tx, copy: Copy, lanes: LaneCache, batch: Batch) -> list[Enqueued]:
    for number, args, meta in zip(batch.numbers, batch.args, batch.metas, strict=True):
        lanes.check_payload(batch.kinds[number].task, args, meta)
    row = (await tx.fetch("number_jobs", len(batch)))[0]
    now, seqs = row["now"], row["seqs"]
    values = [_shared(kind, lanes, now) for kind in batch.kinds]
    # NULL is the default of a column.
    columns = [name for name in _SHARED if any(kind[name] is not None for kind in values)]
    kinds = [_kind(job, [kind[name] for name in columns]) for job, kind in zip(batch.kinds, values, strict=True)]
    # In id order, not in batch order: two batches that share ids would wait for each other, and deadlock.
    ordered = sorted(zip(batch.ids, seqs, batch.numbers, batch.args, batch.metas, strict=True))
    for part in in_parts(ordered, _JOBS_AT_ONCE):
        await copy("job_id", ("id", "seq"), _ids(part))
        await copy("job", ("seq", "id", *columns, "args", "digest", "meta"), _lines(part, kinds))
    events = [_event(kind, now) for kind in batch.kinds]
    await write_alike(tx, events, batch.numbers, batch.ids)
    tx.wake(ready_hint(kind.task for kind in batch.kinds), "event")
    made = [Enqueued(job_id, State.READY, True, seq, now) for job_id, seq in zip(batch.ids, seqs, strict=True)]
    if tx.tracing is not None:
        await write_traces(tx, made)
    return made


_Line = tuple[str, int, int, str, str | None]


async def _ids(jobs: Sequence[_Line]) -> AsyncIterator[bytes]:
    yield "".join([f"{job_id}\t{seq}\n" for job_id, seq, *_ in jobs]).encode()


async def _lines(jobs: Sequence[_Line], kinds: Sequence[_Kind]) -> AsyncIterator[bytes]:
    for part in in_parts(jobs, LINES_AT_ONCE):
        lines = []
        for job_id, seq, number, args, meta in part:
            between, digest = kinds[number]
            own = NULL if meta is None else escaped(meta)
            lines.append(f"{seq}\t{job_id}{between}{escaped(args)}\t{digest(args, meta)}\t{own}\n")
        yield "".join(lines).encode()


def _shared(job: NewJob, lanes: LaneCache, now: int) -> dict[str, Any]:
    names = [each.name for each in NEW]
    given = dict(zip(names, new_values(job, lanes.place(job), policy_text(job.policy), ""), strict=True))
    rank = rank_of(job.urgent, job.priority)
    return given | {"state": State.READY, "rank": rank, "run_at": now, "created_at": now}


def _kind(job: NewJob, values: Sequence[Any]) -> _Kind:
    return _Kind(f"\t{text_of(values)}\t", job.digests())


def _event(job: NewJob, now: int) -> Event:
    return moved(Reason.ENQUEUED, at=now, queue=job.queue, job_id=job.id, task=job.task, state=State.READY)


async def copy_jobs(tx: Tx, copy: Copy, lanes: LaneCache, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
    """Create jobs that may have keys; see `FastSteps`."""
    (numbers,) = await tx.fetch("number_jobs", len(jobs))
    now, seqs = numbers["now"], numbers["seqs"]
    if any(job.depends_on or job.delay_us or (job.run_at_us or 0) > now for job in jobs):
        return None
    numbered = list(zip(jobs, seqs, strict=True))
    # In a fixed order, as `insert_jobs` does: two batches that share some would wait for each other, and deadlock.
    await copy_rows(copy, "job_id", ("id", "seq"), sorted((job.id, seq) for job, seq in numbered))
    await copy_rows(
        copy, "job", _KEYED_COLUMNS, (_keyed_row(*each, lanes, now) for each in sorted(numbered, key=_keys))
    )
    build = event_factory(Reason.ENQUEUED, State.READY)
    tx.emit(*[build(now, job.queue, job.id, job.task) for job in jobs])
    tx.wake(ready_hint(job.task for job in jobs))
    made = [Enqueued(job.id, State.READY, True, seq, now) for job, seq in numbered]
    if tx.tracing is not None:
        await write_traces(tx, made)
    return made


def _keys(numbered: tuple[NewJob, int]) -> tuple[str, str]:
    job, _ = numbered
    return job.unique_key or "", job.idempotency_key or ""


def _keyed_row(job: NewJob, seq: int, lanes: LaneCache, now: int) -> tuple[Any, ...]:
    run_at = now if job.run_at_us is None else job.run_at_us
    own = new_values(job, lanes.place(job), policy_text(job.policy), job.digest())
    return (seq, State.READY.value, rank_of(job.urgent, job.priority), run_at, now, *own)
