"""A log that had to wait for its job's row is refused if the lease ran out meanwhile, and so is what came too late."""

import asyncio
from typing import Any

import asyncpg
import pytest

from hanbeon.domain.job import NewJob
from hanbeon.domain.log import LogStream
from hanbeon.domain.log_buffer import LogBuffer
from hanbeon.domain.outcome import Returned
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.lease import Lease, renew
from hanbeon.store.operations.logs import LogWrite
from hanbeon.store.store import Store
from tests.store.world import new_id

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
_EXPIRED = "SELECT locked_until < hanbeon.now() FROM hanbeon.job"


def _write(lease: Lease) -> LogWrite:
    buffer = LogBuffer(65_536)
    buffer.add(LogStream.STDOUT, b"words\n", 1)
    offer = buffer.offer()
    assert offer is not None
    return LogWrite(lease, offer)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_the_lease_is_checked_after_the_wait(store: Store, database_url: str) -> None:
    await store.enqueue([NewJob(id=new_id(), task="t")])
    (job,) = (await store.claim(ClaimRequest(7, ["t"], 1, 1_000_000))).jobs
    somebody: Any = await asyncpg.connect(database_url)
    onlooker: Any = await asyncpg.connect(database_url)
    try:
        await somebody.execute("BEGIN; SELECT 1 FROM hanbeon.job FOR UPDATE")
        writing = asyncio.create_task(store.write_logs([_write(Lease(job.seq, job.fence))]))
        while not await onlooker.fetchval(_WAITING):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
        while not await onlooker.fetchval(_EXPIRED):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await somebody.execute("COMMIT")
        assert await writing == set()
        assert await onlooker.fetchval("SELECT count(*) FROM hanbeon.log") == 0
    finally:
        await somebody.close()
        await onlooker.close()


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_no_end_slips_in_while_a_log_is_written(store: Store, database_url: str) -> None:
    """A log under way locks its job: a renewal passes it over, the attempt's end waits for it."""
    await store.enqueue([NewJob(id=new_id(), task="t")])
    (job,) = (await store.claim(ClaimRequest(7, ["t"], 1, 30_000_000))).jobs
    lease = Lease(job.seq, job.fence)
    onlooker: Any = await asyncpg.connect(database_url)
    locked, go = asyncio.Event(), asyncio.Event()

    async def slow_write(tx: Any) -> None:
        assert await tx.fetch("lock_running", f"[{job.seq}]")
        locked.set()
        await go.wait()

    try:
        writing = asyncio.create_task(store.write(slow_write))
        await locked.wait()
        facts = await store.write(lambda tx: renew(tx, [lease], 30_000_000))
        assert (facts.renewed, facts.lost) == (set(), set())
        ending = asyncio.create_task(store.complete([CompletionReport(lease.seq, lease.fence, Returned())]))
        while not await onlooker.fetchval(_WAITING):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
        go.set()
        await writing
        assert len(await ending) == 1
        assert await store.write_logs([_write(lease)]) == set(), "and afterwards it is too late"
    finally:
        await onlooker.close()
