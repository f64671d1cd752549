"""On SQLite a lent transaction holds the only write lock, so it may not last."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from hanbeon.domain.outcome import Returned
from hanbeon.errors import TransactionTooLong
from hanbeon.store.operations.complete import CompletionReport
from tests.store.world import World, lease_of

LIMIT = 1.0


@pytest.fixture
async def world(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setattr("hanbeon.store.sqlite.LENT_LIMIT_SECONDS", LIMIT)
    opened = await World.open(sqlite_url)
    await opened.script("CREATE TABLE effect (job text)")
    yield opened
    await opened.store.close()


async def test_the_limit_is_five_seconds() -> None:
    from hanbeon.store import sqlite

    assert sqlite.LENT_LIMIT_SECONDS == 5.0


async def test_it_is_rolled_back_when_its_time_is_over(world: World) -> None:
    held = await world.claim_this(await world.make())
    lent = await world.store.lend()
    await lent.execute("INSERT INTO effect VALUES (?)", held.id)
    # The engine's own write waits for the lock and gets it when the time is over.
    assert await asyncio.wait_for(world.store.write_progress(lease_of(held), "1"), 60)
    with pytest.raises(TransactionTooLong, match=r"1 seconds"):
        await lent.execute("SELECT 1")
    with pytest.raises(TransactionTooLong):
        await world.store.complete_lent(lent, CompletionReport(held.seq, held.fence, Returned()), [])
    await lent.abandon()
    assert list(await world.sql("SELECT * FROM effect")) == []
    assert await world.settle(held) is not None


async def test_a_statement_under_way_is_interrupted(world: World) -> None:
    lent = await world.store.lend()
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(TransactionTooLong):
        await asyncio.wait_for(lent.fetch(endless), 60)
    await world.make()
