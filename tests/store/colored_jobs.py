"""A process of its own, of a package whose jobs have a color: creates and claims jobs by every path.

It prints a line for each path: its name, and the colors as the table has them or as the claim returned them.
"""

import asyncio
import sys
from collections.abc import Sequence
from functools import partial

import msgspec
import uuid_utils

from hanbeon.clock import SystemClock
from hanbeon.domain.batch import Batch
from hanbeon.domain.job import NewJob
from hanbeon.store.backends import open_store
from hanbeon.store.fast import bulk
from hanbeon.store.operations.claim import ClaimRequest, LanePosition, claim_these
from hanbeon.store.operations.queries import jobs_by_id
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import migrate

_MANY = 60
_LEASE_US = 3_600_000_000


def _job(**fields: object) -> NewJob:
    return msgspec.convert({"id": str(uuid_utils.uuid7()), "task": "t", "color": "red", **fields}, NewJob)


def _colors(jobs: Sequence[msgspec.Struct]) -> list[str]:
    return [str(msgspec.structs.asdict(job)["color"]) for job in jobs]


async def _create(store: Store) -> list[int]:
    batch = Batch(10_000)
    kind = batch.add(_job())
    for _ in range(_MANY):
        batch.add_alike(kind, str(uuid_utils.uuid7()), "{}")
    assert bulk.in_bulk(batch) is not None
    general = [_job(idempotency_key="a"), _job(unique_key="b", color="blue"), _job(delay_us=_LEASE_US, color=None)]
    await store.enqueue([_job()])  # It creates the lane: the next one takes the fast path.
    seqs = []
    for path, jobs in (("single", [_job(color="green")]), ("general", general), ("bulk", batch)):
        ids = [made.id for made in await store.enqueue(jobs)]
        found = await store.read(partial(jobs_by_id, ids=ids))
        print(path, *sorted(set(_colors(found))))
        seqs += [job.seq for job in found]
    return seqs


async def _claim(store: Store, seqs: list[int]) -> None:
    behind = LanePosition.before_all(store.lanes.number(_job().lane))
    request = ClaimRequest(1, ["t"], 2, _LEASE_US, behind=behind)
    batch = (await store.claim(request)).jobs
    print("batch", *_colors(batch))
    rest = await store.write(lambda tx: claim_these(tx, store.lanes, seqs, request))
    print("claim", *sorted(set(_colors(rest))))


async def main(url: str) -> None:
    await migrate(url)
    store = open_store(url, SystemClock())
    await store.open()
    try:
        await _claim(store, await _create(store))
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
