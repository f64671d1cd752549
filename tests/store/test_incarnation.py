"""Processes that opened a database before it was restored: refused, whatever they do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import apsw
import asyncpg
import pytest

from hanbeon import App
from hanbeon.clock import SystemClock
from hanbeon.domain.lifecycle import State
from hanbeon.domain.log_buffer import LogOffer
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.errors import DatabaseRestored, TransactionUndone
from hanbeon.store.backends import open_store
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations import lease as lease_rows
from hanbeon.store.operations import queries
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport, recover
from hanbeon.store.operations.incarnation import begin_incarnation
from hanbeon.store.operations.instances import NewInstance, register
from hanbeon.store.operations.lease import renew
from hanbeon.store.operations.logs import LogWrite
from hanbeon.store.operations.tallies import counts
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from tests.databases.locks import somebody_waits
from tests.server.client import serving
from tests.store.world import LEASE_US, World, lease_of, new_job


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    store = open_store(database_url, SystemClock())
    await store.open()
    yield store
    await store.close()


async def _restore(url: str) -> None:
    """Do to the database what `hanbeon restore` does at the end."""
    other = open_store(url, SystemClock())
    await other.open()
    try:
        before = other.incarnation
        restored = await other.write(begin_incarnation)
        assert restored.incarnation.id != before
    finally:
        await other.close()


async def test_an_incarnation_lasts_until_a_restore(database_url: str, store: Store) -> None:
    other = open_store(database_url, SystemClock())
    await other.open()
    assert other.incarnation == store.incarnation
    assert len(store.incarnation) == 16
    await other.close()
    await _restore(database_url)
    await other.open()
    assert other.incarnation != store.incarnation
    await other.close()


async def test_a_store_of_an_earlier_incarnation_is_refused(database_url: str, store: Store) -> None:
    known = new_job()
    await store.enqueue([known])
    transaction = await store.begin() if isinstance(store.database, PostgresDatabase) else None
    await _restore(database_url)
    for attempt in (
        lambda: store.enqueue([new_job()]),  # The fast path of PostgreSQL: its lane is known.
        lambda: store.enqueue([new_job(), new_job()]),
        lambda: store.enqueue([new_job(task=f"t{number}") for number in range(60)]),
        lambda: store.job(known.id),
        lambda: store.write(lambda tx: recover(tx, store.lanes, 10)),
        lambda: store.commit(transaction) if transaction is not None else store.number_events(),
    ):
        with pytest.raises(DatabaseRestored, match="restart the process"):
            await attempt()
    assert store.restored.is_set()
    await store.close()
    await store.open()
    assert not store.restored.is_set()
    assert (await store.read(lambda tx: counts(tx, None, store.unfolded)))[State.READY] == 1


async def test_a_callers_transaction_of_an_earlier_incarnation(postgres_url: str) -> None:
    store = open_store(postgres_url, SystemClock())
    await store.open()
    connection = await asyncpg.connect(postgres_url)
    try:
        await store.enqueue([new_job()])
        await _restore(postgres_url)
        async with connection.transaction():
            with pytest.raises(DatabaseRestored):
                await store.enqueue_within(connection, [new_job()])
        assert await connection.fetchval("SELECT count(*) FROM hanbeon.job") == 1
    finally:
        await connection.close()
        await store.close()


@pytest.mark.parametrize("write", ["enqueue one", "enqueue many", "claim", "succeed", "fail", "recover"])
async def test_no_write_that_began_before_a_restore_commits_after_it(postgres_url: str, write: str) -> None:
    """Each is stopped amid its transaction, by a lock on the table of events, when the restore begins."""
    store = open_store(postgres_url, SystemClock())
    await store.open()
    await store.enqueue([new_job(task="work") for _ in range(2)])
    instance = await store.write(lambda tx: register(tx, NewInstance("n", "h", 1, "1", ["work"], 1)))
    request = ClaimRequest(instance, ["work"], 1, LEASE_US)
    (held,) = (await store.claim(request)).jobs
    if write == "recover":
        await store.write(lambda tx: tx.fetch("expire_leases"))
    writes: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
        "enqueue one": lambda: store.enqueue([new_job(task="work")]),
        "enqueue many": lambda: store.enqueue([new_job(task="work") for _ in range(2)]),
        "claim": lambda: store.claim(request),
        "succeed": lambda: store.succeed([held], [None]),
        "fail": lambda: store.complete([CompletionReport(held.seq, held.fence, Raised("boom"), instance=instance)]),
        "recover": lambda: store.write(lambda tx: recover(tx, store.lanes, 10)),
    }
    other: Any = await asyncpg.connect(postgres_url)
    try:
        async with other.transaction():
            await other.execute("LOCK TABLE hanbeon.event_batch IN SHARE MODE")
            writing = asyncio.create_task(writes[write]())
            assert await somebody_waits(postgres_url, writing)
            restoring = asyncio.create_task(_restore(postgres_url))
            is_first = not await somebody_waits(postgres_url, restoring, least=2)
        answer = (await asyncio.gather(writing, return_exceptions=True))[0]
        await restoring
        if is_first:
            # None: by the path of a single statement, which leaves the reason to the general path.
            assert answer is None or isinstance(answer, DatabaseRestored), f"{answer} was committed after the restore"
        else:
            assert not isinstance(answer, BaseException)
    finally:
        await other.close()
        await store.close()


async def test_writes_that_begin_during_a_restore_wait_for_it(postgres_url: str) -> None:
    store, other = (open_store(postgres_url, SystemClock()) for _ in range(2))
    await store.open()
    await other.open()
    begun, may_commit = asyncio.Event(), asyncio.Event()

    async def restore(tx: Tx) -> None:
        await begin_incarnation(tx)
        begun.set()
        await may_commit.wait()

    try:
        await store.enqueue([new_job(task="work")])
        instance = await store.write(lambda tx: register(tx, NewInstance("n", "h", 1, "1", ["work"], 1)))
        restoring = asyncio.create_task(other.write(restore))
        await begun.wait()
        writes: list[Any] = [
            store.enqueue([new_job(task="work")]),
            store.enqueue([new_job(task="work") for _ in range(2)]),
            store.claim(ClaimRequest(instance, ["work"], 1, LEASE_US)),
        ]
        writing = asyncio.gather(*writes, return_exceptions=True)
        assert await somebody_waits(postgres_url, restoring, least=len(writes))
        may_commit.set()
        await restoring
        assert [type(each) for each in await writing] == [DatabaseRestored] * len(writes)
    finally:
        await store.close()
        await other.close()


@pytest.mark.parametrize("isolation", ["read_committed", "repeatable_read"])
async def test_callers_transaction_that_is_open_during_a_restore(postgres_url: str, isolation: Any) -> None:
    store = open_store(postgres_url, SystemClock())
    await store.open()
    connection: Any = await asyncpg.connect(postgres_url)
    try:
        async with connection.transaction(isolation=isolation):
            await store.enqueue_within(connection, [new_job()])
            restoring = asyncio.create_task(_restore(postgres_url))
            assert await somebody_waits(postgres_url, restoring)
        await restoring
        await store.close()
        await store.open()
        with pytest.raises((DatabaseRestored, TransactionUndone)):  # noqa: PT012 - the transaction is the point
            async with connection.transaction(isolation=isolation):
                await connection.fetch("SELECT 1 FROM pg_class LIMIT 1")  # The view of one that sees one moment only.
                await _restore(postgres_url)
                await store.enqueue_within(connection, [new_job()])
        assert await connection.fetchval("SELECT count(*) FROM hanbeon.job") == 1
    finally:
        await connection.close()
        await store.close()


async def test_no_restore_begins_during_a_write_on_sqlite(sqlite_url: str) -> None:
    store = open_store(sqlite_url, SystemClock())
    await store.open()
    other = apsw.Connection(sqlite_url.removeprefix("sqlite:///"))
    try:
        async with store.transaction() as transaction:
            await store.enqueue_within(transaction, [new_job()])
            with pytest.raises(apsw.BusyError):
                other.execute("BEGIN IMMEDIATE")
        await _restore(sqlite_url)
        with pytest.raises(DatabaseRestored):
            async with store.transaction() as transaction:
                await store.enqueue_within(transaction, [new_job()])
    finally:
        other.close()
        await store.close()


async def test_another_instance_with_the_fence_writes_nothing(world: World) -> None:
    held = await world.claim_this(await world.make())
    lease = lease_of(held)._replace(instance=held.instance + 1)
    before, rows = await world.job(held.id), await world.rows()
    for outcome in (Returned("2"), Raised("boom")):
        report = CompletionReport(held.seq, held.fence, outcome, instance=lease.instance)
        assert await world.store.complete([report]) == []
        assert await world.store.complete_with_children(report, [new_job()]) is None
    facts = await world.store.write(lambda tx: renew(tx, [lease], LEASE_US))
    assert (facts.renewed, facts.lost) == (set(), {held.seq})
    assert (await world.store.read(lambda tx: lease_rows.look(tx, [lease]))).lost == {held.seq}
    assert await world.store.write_progress(lease, "0.5") is False
    assert await world.note_overdue(lease) is False
    assert await world.store.write_logs([LogWrite(lease, LogOffer((), None))]) == set()
    assert await world.job(held.id) == before
    assert await world.rows() == rows
    assert await world.settle(held) is not None


async def test_numbers_of_instances_are_never_used_again(world: World) -> None:
    async def added() -> int:
        return await world.store.write(lambda tx: register(tx, NewInstance("n", "h", 1, "1", [], 1)))

    first, second = await added(), await added()
    assert second > first >= await world.store.read(queries.now_us)
    await world.clock.advance(60)
    assert await added() == await world.store.read(queries.now_us)


async def test_a_worker_stops_when_the_database_was_restored(database_url: str) -> None:
    async with App(database_url, lease=3, poll=0.2) as app:
        started, stopped = asyncio.Event(), asyncio.Event()

        @app.task(retries=3)
        async def work() -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        job = await app.enqueue(work)
        running = asyncio.create_task(app.worker().run())
        await asyncio.wait_for(started.wait(), 30)
        await _restore(database_url)
        with pytest.raises(DatabaseRestored):
            await asyncio.wait_for(running, 60)
        assert stopped.is_set()
    async with App(database_url) as again:
        record = await again.store.job(job.id)
        assert (record.state, record.fence) == (State.RUNNING, 1), "nothing was written after the restore"
        (recovered,) = await again.store.write(lambda tx: recover(tx, again.store.lanes, 10))
        assert recovered.id == job.id


async def test_a_server_ends_when_the_database_was_restored(database_url: str) -> None:
    async with App(database_url) as app:
        with pytest.raises(DatabaseRestored):  # noqa: PT012 - the end of the server raises
            async with serving(app) as client:
                assert (await client.get("/readyz")).status == 200
                await _restore(database_url)
                answer = await client.get("/readyz")
                assert (answer.status, answer.code) == (503, "database_restored")
