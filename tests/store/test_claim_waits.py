"""Claims from a limited queue wait for its lock, count afterwards, and see all changes made in the meantime."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import asyncpg
import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.job import NewJob
from hanbeon.store.backends import open_store
from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, claim
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from tests.databases.locks import somebody_waits
from tests.store.world import new_id
from tests.storm import wrong


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize("change", [{"paused": True}, {"limits": {"max_concurrent": 1}}], ids=["paused", "limited"])
async def test_changes_during_a_claim_are_in_force(store: Store, database_url: str, change: dict[str, Any]) -> None:
    jobs = [NewJob(id=new_id(), task="t", queue=queue) for queue in ("limited", "other", "other", "other")]
    await store.enqueue(jobs)
    await store.change_queue("limited", limits={"max_concurrent": 5})
    somebody: Any = await asyncpg.connect(database_url)
    try:
        await somebody.execute("BEGIN; SELECT 1 FROM hanbeon.queue WHERE name = 'limited' FOR UPDATE")
        claiming = asyncio.create_task(store.claim(ClaimRequest(1, ["t"], 10, 30_000_000)))
        assert await somebody_waits(database_url, claiming)
        await store.change_queue("other", **change)
        await somebody.execute("COMMIT")
        answer = await claiming
    finally:
        await somebody.close()
    assert [job.queue for job in answer.jobs] == ["limited"]


@pytest.fixture
def restored() -> Iterator[None]:
    yield
    patch.stopall()


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("way", "running"), [(wrong.right, 1), (wrong.count_without_lock, 2), (wrong.lock_and_count_at_once, 2)]
)
async def test_a_slot_that_is_just_being_taken_is_taken(
    store: Store, database_url: str, way: Callable[[], None], running: int, restored: None
) -> None:
    """And the classic mistakes let it be taken twice, each time: the way in between is the only difference."""
    await store.enqueue([NewJob(id=new_id(), task="t", queue="narrow") for _ in range(2)])
    await store.change_queue("narrow", limits={"max_concurrent": 1})
    way()
    counted, may_end = asyncio.Event(), asyncio.Event()

    async def take_slowly(tx: Tx) -> ClaimAnswer:
        taken = await claim(tx, store.lanes, ClaimRequest(1, ["t"], 1, 30_000_000))
        counted.set()
        await may_end.wait()
        return taken

    other = open_store(database_url, SystemClock())
    await other.open()
    try:
        first = asyncio.create_task(store.write(take_slowly))
        await counted.wait()
        second = asyncio.create_task(other.claim(ClaimRequest(2, ["t"], 1, 30_000_000)))
        await somebody_waits(database_url, second)
        may_end.set()
        answers = [await first, await second]
    finally:
        may_end.set()
        await other.close()
    assert sum(len(answer.jobs) for answer in answers) == running
