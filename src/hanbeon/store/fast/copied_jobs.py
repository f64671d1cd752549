"""PostgreSQL only: many jobs by COPY, which costs the server a third of an INSERT that checks for conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hanbeon.domain.events import event_factory
from hanbeon.domain.job import NewJob, rank_of
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.store.fast.copy import copy_rows
from hanbeon.store.job_columns import NEW, new_values
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.traces import write_traces
from hanbeon.store.records import policy_text
from hanbeon.store.tx import Copy, Tx, ready_hint

_COLUMNS = ("seq", "state", "rank", "run_at", "created_at", *(column.name for column in NEW))


async def copy_jobs(tx: Tx, copy: Copy, lanes: LaneCache, jobs: Sequence[NewJob]) -> list[Enqueued] | None:
    """Create jobs whose ids and keys are almost certainly free, and whose times have come; None: use `enqueue`.

    If one is taken after all, the transaction fails, and has no COPY when it is run again.
    """
    (numbers,) = await tx.fetch("number_jobs", len(jobs))
    now, seqs = numbers["now"], numbers["seqs"]
    if any(job.depends_on or job.delay_us or (job.run_at_us or 0) > now for job in jobs):
        return None
    numbered = list(zip(jobs, seqs, strict=True))
    # In a fixed order, as `insert_jobs` does: two batches that share some would wait for each other, and deadlock.
    await copy_rows(copy, "job_id", ("id", "seq"), sorted((job.id, seq) for job, seq in numbered))
    await copy_rows(copy, "job", _COLUMNS, (_row(*each, lanes, now) for each in sorted(numbered, key=_keys)))
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


def _row(job: NewJob, seq: int, lanes: LaneCache, now: int) -> tuple[Any, ...]:
    run_at = now if job.run_at_us is None else job.run_at_us
    own = new_values(job, lanes.place(job), policy_text(job.policy), job.digest())
    return (seq, State.READY.value, rank_of(job.urgent, job.priority), run_at, now, *own)
