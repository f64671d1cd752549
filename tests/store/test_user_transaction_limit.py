"""On SQLite a user transaction holds the only write lock, so it may not last."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

import apsw
import pytest

from hanbeon.domain.outcome import Returned
from hanbeon.errors import DatabaseUnavailable, TransactionTooLong
from hanbeon.store.database import sqlite
from hanbeon.store.database.sqlite_connection import SqliteConnection
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.tx import Tx
from hanbeon.store.user_transaction import UserTransaction
from tests.store.world import World, lease_of

LIMIT = 1.0
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
async def world(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr("hanbeon.store.database.sqlite.USER_TRANSACTION_SECONDS", LIMIT)
    opened = await World.open(sqlite_url)
    await opened.script("CREATE TABLE effect (job text)")
    yield opened
    await opened.store.close()


async def test_the_limit_is_five_seconds() -> None:
    assert sqlite.USER_TRANSACTION_SECONDS == 5.0


async def test_it_is_rolled_back_when_its_time_is_over(world: World) -> None:
    held = await world.claim_this(await world.make())
    transaction = await world.store.begin()
    await transaction.execute("INSERT INTO effect VALUES (?)", held.id)
    # The engine's own write waits for the lock and gets it when the time is over.
    assert await asyncio.wait_for(world.store.write_progress(lease_of(held), "1"), 60)
    with pytest.raises(TransactionTooLong, match=r"1 seconds"):
        await transaction.execute("SELECT 1")
    with pytest.raises(TransactionTooLong):
        await world.store.complete_within(transaction, CompletionReport(held.seq, held.fence, Returned()), [])
    await transaction.abandon()
    assert list(await world.sql("SELECT * FROM effect")) == []
    assert await world.settle(held) is not None


async def test_a_statement_under_way_is_interrupted(world: World) -> None:
    transaction = await world.store.begin()
    with pytest.raises(TransactionTooLong):
        await asyncio.wait_for(transaction.fetch(ENDLESS), 60)
    await world.make()


async def test_its_typed_error_leaves_the_engines_own_part(world: World) -> None:
    transaction = await world.store.begin()
    connection = transaction.connection

    async def work(_: Tx) -> None:
        connection.execute(ENDLESS)  # An interrupt rolls the whole transaction back, and the savepoint with it.

    with pytest.raises(TransactionTooLong):
        await asyncio.wait_for(transaction.within(work), 60)  # type: ignore[attr-defined]
    await world.make()


async def test_statements_that_nobody_awaits_do_not_outlast_it(world: World) -> None:
    held = await world.claim_this(await world.make())
    transaction = await world.store.begin()
    left = asyncio.create_task(transaction.fetch(ENDLESS))
    await asyncio.sleep(0)
    with pytest.raises(TransactionTooLong):
        await world.store.complete_within(transaction, CompletionReport(held.seq, held.fence, Returned()), [])
    with pytest.raises(TransactionTooLong):
        await left


@pytest.fixture
async def patient(sqlite_url: str) -> AsyncIterator[World]:
    """The limit is out of the way: only the stop of its user ends a transaction."""
    opened = await World.open(sqlite_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "USER_TRANSACTION_SECONDS", 3600.0)
        yield opened
    await opened.store.close()


async def test_a_stop_ends_the_statement_under_way(patient: World) -> None:
    transaction = await patient.store.begin()
    queued = [asyncio.create_task(transaction.fetch(ENDLESS)) for _ in range(3)]
    await asyncio.sleep(0)
    queued[0].cancel()
    abandoning = asyncio.create_task(transaction.abandon())
    await asyncio.sleep(0)
    await stop_twice(abandoning)
    await patient.make()
    for waiting in queued:
        with pytest.raises((DatabaseUnavailable, asyncio.CancelledError)):
            await waiting
    await none_is_left()


async def test_a_stop_in_the_wait_for_the_lock_frees_it(patient: World, monkeypatch: pytest.MonkeyPatch) -> None:
    waits, wait = threading.Event(), SqliteConnection._wait

    def noted(self: SqliteConnection, tries: int) -> bool:
        waits.set()
        return wait(self, tries)

    monkeypatch.setattr(SqliteConnection, "_wait", noted)
    other = apsw.Connection(str(patient.store.database.path))  # type: ignore[union-attr]
    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE")
        beginning = asyncio.create_task(patient.store.begin())
        assert await asyncio.to_thread(waits.wait, 60)
        await stop_twice(beginning)
        await none_is_left()  # It does not go on waiting, either.
        other.execute("ROLLBACK")
        await patient.make()


async def test_a_stop_at_any_moment_of_its_opening_leaks_nothing(patient: World) -> None:
    for steps in range(40):
        beginning = asyncio.create_task(patient.store.begin())
        for _ in range(steps):
            await asyncio.sleep(0)
        await stop_twice(beginning)
    await none_is_left()
    await patient.make()


async def stop_twice(task: asyncio.Task[UserTransaction] | asyncio.Task[None]) -> None:
    """As a deadline does, and the guard that insists: the second one meets the clean-up of the first."""
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        if (transaction := await task) is not None:
            await transaction.abandon()


async def none_is_left() -> None:
    """Wait for the threads of user connections, each of which ends with its connection closed."""
    for thread in threading.enumerate():
        if thread.name == "hanbeon-sqlite-user":
            await asyncio.to_thread(thread.join, 60)
            assert not thread.is_alive()
