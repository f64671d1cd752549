"""Explains why a job is not running."""

from __future__ import annotations

import msgspec

from hanbeon.domain.explain import Explanation, Facts, Holder, explain
from hanbeon.domain.job import is_on_every_worker
from hanbeon.domain.limits import QueueLimits
from hanbeon.errors import JobNotFound
from hanbeon.store.operations.dispatches import waiting_in
from hanbeon.store.operations.instances import instances
from hanbeon.store.operations.queries import dependencies_of, jobs_by_id
from hanbeon.store.records import lanes_of_queue
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx

_HOLDERS = 1000


async def explain_job(store: Store, job_id: str, alive_within_us: int) -> Explanation:
    """Answer from one consistent view of the database."""
    return explain(await store.read(lambda tx: _facts(tx, job_id, alive_within_us)))


async def _facts(tx: Tx, job_id: str, alive_within_us: int) -> Facts:
    found = await jobs_by_id(tx, [job_id])
    if not found:
        raise JobNotFound(job_id)
    job = found[0]
    place = (await tx.fetch("queue_id_of", job_id))[0]
    queue = (await tx.fetch("queue_by_id", place["queue_id"]))[0]
    limits = msgspec.json.decode(queue["limits"], type=QueueLimits)
    holders = await tx.fetch("holders", *lanes_of_queue(queue["id"]), _HOLDERS) if limits.limited else []
    return Facts(
        job=job,
        dependencies={dep.id: dep.state for dep in await dependencies_of(tx, job_id)},
        paused=bool(queue["paused"]),
        limits=limits,
        holders=[
            Holder(str(row["id"]), row["role"], row["concurrency_key"], row["instance"], row["started_at"])
            for row in holders
        ],
        workers=[
            each.name
            for each in await instances(tx, alive_within_us, built_in=True)
            if each.alive and (job.task in each.tasks or is_on_every_worker(job.task))
        ],
        now=place["now"],
        stream=await waiting_in(tx, job),
    )
