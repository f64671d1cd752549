"""On PostgreSQL transactions overlap: numbers follow commits, so who resumes by number misses nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from hanbeon.domain.events import Event
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations.events import events_after
from hanbeon.store.store import Store
from tests.store.test_concurrency import more_stores
from tests.store.world import World, check_history, new_job

BODY = '[{"type":"slow","at":1,"queue":"q"},{"type":"slow","at":1,"queue":"q"}]'


@contextlib.asynccontextmanager
async def slow_writer(world: World) -> AsyncIterator[Any]:
    """A transaction that has written its events, before all others, and has not committed."""
    assert isinstance(world.store.database, PostgresDatabase)
    connection = await asyncpg.connect(world.store.database.url)
    try:
        await connection.execute("BEGIN")
        await connection.execute("INSERT INTO hanbeon.event_batch (at, count, body) VALUES (1, 2, $1)", BODY)
        yield connection
    finally:
        await connection.close()


class Reader:
    """Resumes after the last number it saw, as a WebSocket client does, and remembers everything."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.seen: list[Event] = []

    async def read(self) -> None:
        await self._store.number_events()
        self.seen += await self._store.read(lambda tx: events_after(tx, self.seen[-1].id if self.seen else 0, 3))

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.seen]


async def test_a_slow_writer_delays_nobody_and_is_not_missed(postgres_world: World) -> None:
    reader = Reader(postgres_world.store)
    async with slow_writer(postgres_world) as slow:
        for n in range(5):
            await postgres_world.make()
            await reader.read()
            assert reader.types == ["enqueued"] * (n + 1)
        await slow.execute("COMMIT")
        await postgres_world.make()
        await reader.read()
    assert reader.types == ["enqueued"] * 5 + ["slow", "slow", "enqueued"]
    check_history(reader.seen)


@pytest.mark.slow
async def test_five_seconds_of_it(postgres_world: World) -> None:
    reader, written = Reader(postgres_world.store), 0
    loop = asyncio.get_running_loop()
    async with slow_writer(postgres_world) as slow:
        until = loop.time() + 5
        while loop.time() < until:
            await postgres_world.enqueue(*[new_job() for _ in range(5)])
            written += 5
            await reader.read()
            assert len(reader.seen) == written
            await asyncio.sleep(0.02)
        await slow.execute("COMMIT")
        await reader.read()
    assert reader.types == ["enqueued"] * written + ["slow", "slow"]
    check_history(reader.seen)


async def test_a_writer_that_gives_up_leaves_no_gap(postgres_world: World) -> None:
    reader = Reader(postgres_world.store)
    async with slow_writer(postgres_world) as slow:
        await postgres_world.make()
        await reader.read()
        await slow.execute("ROLLBACK")
    await postgres_world.make()
    await reader.read()
    assert [event.id for event in reader.seen] == [1, 2]


async def test_many_writers_numberers_and_readers_at_once(postgres_world: World) -> None:
    """Each reader sees every event once and in one order, whoever numbers and however transactions overlap."""
    writers, jobs_each = 4, 25
    total = writers * jobs_each * 2
    async with more_stores(postgres_world, writers + 4) as stores:
        readers = [Reader(store) for store in stores[writers : writers + 2]]
        done = asyncio.Event()

        async def write(store: Store) -> None:
            for _ in range(jobs_each):
                job = new_job(delay_us=10**9)
                await store.enqueue([job])
                await store.cancel(job.id)

        async def number(store: Store) -> None:
            while not done.is_set():
                await store.number_events(3)

        async def read(reader: Reader) -> None:
            while len(reader.seen) < total:
                await reader.read()

        numbering = [asyncio.create_task(number(store)) for store in stores[writers + 2 :]]
        await asyncio.wait_for(asyncio.gather(*map(write, stores[:writers]), *map(read, readers)), 300)
        done.set()
        await asyncio.gather(*numbering)
    for reader in readers:
        check_history(reader.seen)
        assert len(reader.seen) == total
    assert readers[0].seen == readers[1].seen
