"""Explains why a job is not running."""

from __future__ import annotations

import msgspec

from hanbeon.domain.explain import Explanation, Facts, Holder, explain
from hanbeon.domain.job import is_on_every_worker
from hanbeon.domain.lifecycle import State
from hanbeon.domain.limits import QueueLimits
from hanbeon.store.operations.dispatches import waiting_in
from hanbeon.store.operations.hand_moves import hand_moves_of
from hanbeon.store.operations.instances import blockage_of, instances
from hanbeon.store.operations.queries import dependencies_of, job_with_failure
from hanbeon.store.records import lanes_of_queue
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx

_HOLDERS = 1000


async def explain_job(store: Store, job_id: str, alive_within_us: int, *, private: bool = False) -> Explanation:
    """Answer from one consistent view of the database; of a `private` job without its traceback."""
    return explain(await store.read(lambda tx: _facts(tx, job_id, alive_within_us, private)))


async def _facts(tx: Tx, job_id: str, alive_within_us: int, private: bool) -> Facts:
    job = await job_with_failure(tx, job_id)
    if private:
        job = msgspec.structs.replace(job, exception=None, traceback=None)
    blockage = None if job.locked_by is None else await blockage_of(tx, job.locked_by)
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
        blocked_us=None if blockage is None else blockage.us,
        blocked_by=None if blockage is None else blockage.job,
        hand_moves=await hand_moves_of(tx, job.seq) if job.state is State.SUCCEEDED else (),
    )
