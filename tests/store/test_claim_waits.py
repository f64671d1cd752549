"""A claim that had to wait for a limited queue's lock takes the other queues as they are afterwards."""

import asyncio
from typing import Any

import asyncpg
import pytest

from hanbeon.domain.job import NewJob
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.port import Store
from tests.store.world import new_id

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("change", [{"paused": True}, {"limits": {"max_concurrent": 1}}], ids=["paused", "limited"])
async def test_what_changed_meanwhile_is_in_force(store: Store, database_url: str, change: dict[str, Any]) -> None:
    jobs = [NewJob(id=new_id(), task="t", queue=queue) for queue in ("limited", "other", "other", "other")]
    await store.enqueue(jobs)
    await store.change_queue("limited", limits={"max_concurrent": 5})
    somebody: Any = await asyncpg.connect(database_url)
    onlooker: Any = await asyncpg.connect(database_url)
    try:
        await somebody.execute("BEGIN; SELECT 1 FROM hanbeon.queue WHERE name = 'limited' FOR UPDATE")
        claiming = asyncio.create_task(store.claim(ClaimRequest(1, ["t"], 10, 30_000_000)))
        while not await onlooker.fetchval(_WAITING):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
        await store.change_queue("other", **change)
        await somebody.execute("COMMIT")
        answer = await claiming
    finally:
        await somebody.close()
        await onlooker.close()
    assert [job.queue for job in answer.jobs] == ["limited"]
