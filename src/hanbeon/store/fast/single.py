"""A single job that waits for nothing: one statement creates it, with parameters in place of JSON."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hanbeon.domain.batch import keys_of, template_of
from hanbeon.domain.events import moved
from hanbeon.domain.job import NewJob, OnConflict
from hanbeon.domain.lifecycle import Reason, State
from hanbeon.domain.tally import tally
from hanbeon.store.job_columns import new_values
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.operations.events import around_job_id
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.operations.traces import write_traces
from hanbeon.store.records import policy_text
from hanbeon.store.tx import Tx, ready_hint, to_json


def is_simple(job: NewJob) -> bool:
    """True for a job that waits for nothing, replaces none and does not expire."""
    return not job.waits and not job.expires and job.on_conflict is not OnConflict.REPLACE_PENDING


async def enqueue_within(tx: Tx, lanes: LaneCache, job: NewJob) -> Enqueued | None:
    """Create a simple job within a transaction of SQLite; None: it is not simple, or an id or a key is taken."""
    if not is_simple(job):
        return None
    for row in await tx.fetch("enqueue_one", *single_values(job, lanes)):
        at = row["created_at"]
        tx.emit(moved(Reason.ENQUEUED, at=at, queue=job.queue, job_id=job.id, task=job.task, state=State.READY))
        tx.wake(ready_hint([job.task]))
        made = Enqueued(job.id, State.READY, True, row["seq"], at)
        if tx.tracing is not None:
            await write_traces(tx, [made])
        return made
    return None


def single_event(job: NewJob) -> tuple[str, str, str]:
    """Return the event of a job that `enqueue_one` creates: its text before and after the instant, and its delta."""
    before, between, after, delta = _single_event(job.queue, job.task)
    return before, f"{between}{job.id}{after}", delta


def single_values(job: NewJob, lanes: LaneCache) -> tuple[Any, ...]:
    """Return the columns of a job that `enqueue_one` creates."""
    digest = template_of(job).digest(job.args, job.meta, keys_of(job))
    return new_values(job, lanes.lane_of(job), policy_text(job.policy), digest)


@lru_cache(maxsize=1024)
def _single_event(queue: str, task: str) -> tuple[str, str, str, str]:
    """Return the event of a single job in three parts, with room for the instant and the job's id; and its delta.

    Cached: there are as many as tasks, and every job needs one.
    """
    event = moved(Reason.ENQUEUED, at=0, queue=queue, job_id="", task=task, state=State.READY)
    before, after = around_job_id(event)
    before, instant, between = before.partition('"at":0')
    return f"[{before}{instant[:-1]}", between, f"{after}]", to_json(tally([event]))
