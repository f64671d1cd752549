"""A success that had to wait for its row is refused if the lease ran out meanwhile."""

import asyncio
from typing import Any

import asyncpg
import pytest

from hanbeon.domain.job import NewJob
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Returned
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.store import Store
from tests.store.world import new_id

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
_EXPIRED = "SELECT locked_until < hanbeon.now() FROM hanbeon.job"


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("meanwhile", ["UPDATE hanbeon.job SET work_item = 1", "SELECT 1"], ids=["changed", "locked"])
async def test_the_lease_is_checked_after_the_wait(store: Store, database_url: str, meanwhile: str) -> None:
    await store.enqueue([NewJob(id=new_id(), task="t")])
    (job,) = (await store.claim(ClaimRequest(7, ["t"], 1, 1_000_000))).jobs
    somebody: Any = await asyncpg.connect(database_url)
    onlooker: Any = await asyncpg.connect(database_url)
    try:
        await somebody.execute("BEGIN; SELECT 1 FROM hanbeon.job FOR UPDATE")
        settling = asyncio.create_task(store.complete([CompletionReport(job.seq, job.fence, Returned(), 0.0, 7)]))
        while not await onlooker.fetchval(_WAITING):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
        while not await onlooker.fetchval(_EXPIRED):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await somebody.execute(f"{meanwhile}; COMMIT")
        assert await settling == []
    finally:
        await somebody.close()
        await onlooker.close()
    assert (await store.job(job.id)).state is State.RUNNING
