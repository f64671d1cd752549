"""Bulk enqueue on PostgreSQL: it writes the same rows as the general path, all or nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

import asyncpg
import msgspec
import pytest

from hanbeon.domain.batch import Batch
from hanbeon.domain.job import NewJob, OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.retry import Backoff, RetryPolicy
from hanbeon.errors import DatabaseUnavailable, IdAlreadyUsed, InvalidInput
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.fast import bulk
from hanbeon.store.operations import enqueue as enqueues
from hanbeon.store.operations import queues as queue_rows
from hanbeon.store.operations.queries import jobs_by_id
from tests.databases.locks import somebody_waits
from tests.store.world import World, new_id, new_job

MANY = 300
PLAIN: dict[str, Any] = {}
FULL: dict[str, Any] = {
    "task": 't "job_id":"" \\.',
    "queue": "q\twith\\N a tab",
    "urgent": True,
    "priority": -7,
    "role": "r",
    "concurrency_key": "k",
    "timeout_us": 5,
    "policy": RetryPolicy(max_retries=9, backoff=Backoff.LINEAR),
    "work_item": "one\ttwo\nthree\rfour\\five \\. \\N ☃",
    "meta": '{"m":"a\\tb"}',
    "on_dependency_failure": OnDependencyFailure.FAIL,
}
METAS = [None, '{"m":"a\\tb \\\\N"}', '{"title":"☃"}']
ARGS = ["{}", '{"a":"☃ \\"at\\":0 \\n \\\\N"}', '{ "written":\n\t"by hand" \r}', '{"line":"\u2028\x7f"}']


def batch_of(*kinds: NewJob, count: int = MANY) -> Batch:
    """So many jobs, of these kinds in turn, with arguments and meta of all sorts."""
    batch = Batch(10_000)
    for kind in kinds:
        batch.add(kind)
    for n in range(len(kinds), count):
        batch.add_alike(n % len(kinds), new_id(), ARGS[n % len(ARGS)], METAS[n % len(METAS)])
    return batch


async def with_lanes(world: World, batch: Batch) -> Batch:
    """Like `batch`, with known lanes: each kind then has one more job, outside the batch."""
    await world.enqueue(*(each.make(new_id(), "{}") for each in batch.templates))
    assert bulk.in_bulk(batch) is not None
    return batch


async def rows_of(world: World, ids: Sequence[str]) -> list[dict[str, Any]]:
    """All that the table has of these jobs in the order of their making, without what tells them from others."""
    found = [dict(row) for row in await world.sql("SELECT * FROM hanbeon.job ORDER BY seq")]
    for row in found:
        row["id"] = str(row["id"])
    told_apart = ("seq", "id")
    assert [row["id"] for row in found if row["id"] in set(ids)] == list(ids)
    return [{name: row[name] for name in row if name not in told_apart} for row in found if row["id"] in set(ids)]


async def test_rows_are_written_in_the_order_of_their_ids(postgres_world: World) -> None:
    """Whatever the order of the call: two calls that share some ids then wait for each other in one direction only."""
    job = new_job()
    batch = Batch(10_000)
    batch.add(job)
    for job_id in sorted((new_id() for _ in range(MANY)), reverse=True):
        batch.add_alike(0, job_id, "{}")
    await postgres_world.store.enqueue(batch)
    rows = await postgres_world.sql("SELECT id, ctid FROM hanbeon.job ORDER BY ctid")
    # Page by page: the server may fill a page of a lower number later.
    pages = [[str(row["id"]) for row in page] for _, page in groupby(rows, lambda row: row["ctid"][0])]
    assert [job_id for page in sorted(pages) for job_id in page] == sorted(batch.ids)
    made = await postgres_world.sql("SELECT id FROM hanbeon.job ORDER BY seq")
    assert [str(row["id"]) for row in made] == batch.ids


async def test_both_paths_write_the_same(postgres_world: World) -> None:
    world = postgres_world
    quick = await with_lanes(world, batch_of(new_job(**PLAIN), new_job(**FULL)))
    long = [msgspec.structs.replace(job, id=new_id()) for job in quick]
    made = await world.store.enqueue(quick)
    also_made = await world.enqueue(*long)
    assert await rows_of(world, quick.ids) == await rows_of(world, [job.id for job in long])
    assert [each.id for each in made] == quick.ids
    assert [msgspec.structs.replace(each, id="", seq=0) for each in made] == [
        msgspec.structs.replace(each, id="", seq=0) for each in also_made
    ]
    records = {record.id: record for record in await world.store.read(lambda tx: jobs_by_id(tx, quick.ids))}
    assert [each.seq for each in made] == [records[job_id].seq for job_id in quick.ids]
    events = [event for event in await world.events() if event.job_id in set(quick.ids)]
    general_events = [event for event in await world.events() if event.job_id in {job.id for job in long}]
    assert [event.job_id for event in events] == quick.ids
    assert [msgspec.structs.replace(event, id=0, job_id=None) for event in events] == [
        msgspec.structs.replace(event, id=0, job_id=None) for event in general_events
    ]
    await world.check_tallies()


async def test_they_run_in_their_order_whatever_their_ids(postgres_world: World) -> None:
    world = postgres_world
    batch = Batch(1_000)
    ids = sorted((new_id() for _ in range(MANY)), reverse=True)
    batch.add(new_job(id=ids[0]))
    for job_id in ids[1:]:
        batch.add_alike(0, job_id, "{}")
    await with_lanes(world, batch)
    await world.claim(1)
    await world.store.enqueue(batch)
    assert await world.claim_ids(MANY) == ids


async def test_more_than_goes_into_a_statement_or_a_batch_of_events(
    postgres_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "_JOBS_AT_ONCE", 70)
    monkeypatch.setattr(bulk, "LINES_AT_ONCE", 30)
    monkeypatch.setattr("hanbeon.store.operations.events._BATCH_SIZE", 40)
    batch = await with_lanes(postgres_world, batch_of(new_job(), new_job(priority=1)))
    before = await postgres_world.rows()
    await postgres_world.store.enqueue(batch)
    after = await postgres_world.rows()
    assert (after.jobs - before.jobs, after.events - before.events) == (MANY, MANY)
    assert after.event_batches - before.event_batches == 8
    assert [event.job_id for event in await postgres_world.events()][2:] == batch.ids
    await postgres_world.check_tallies()


@pytest.mark.parametrize(
    "given",
    [
        {"delay_us": 1},
        {"run_at_us": 1},
        {"depends_on": (new_id(),)},
        {"unique_key": "u"},
        {"idempotency_key": "i"},
    ],
)
def test_other_jobs_take_the_general_path(given: dict[str, Any]) -> None:
    assert bulk.in_bulk(batch_of(new_job())) is not None
    assert bulk.in_bulk(batch_of(new_job(), new_job(**given))) is None
    assert bulk.in_bulk(batch_of(new_job(), count=10)) is None
    assert bulk.in_bulk(list(batch_of(new_job()))) is None


async def test_new_queues_come_with_their_jobs_or_not_at_all(postgres_world: World) -> None:
    world = postgres_world
    await world.enqueue(taken := new_job())
    batch = batch_of(new_job(queue="one"), new_job(queue="two"))
    batch.add_alike(0, taken.id, "{}")
    with pytest.raises(IdAlreadyUsed):
        await world.store.enqueue(batch)
    assert [queue.name for queue in await world.store.read(queue_rows.queues)] == ["default"]
    good = batch_of(new_job(queue="one"), new_job(queue="two"))
    assert all(each.created for each in await world.store.enqueue(good))
    assert sorted(queue.name for queue in await world.store.read(queue_rows.queues)) == ["default", "one", "two"]
    assert await world.claim_ids(MANY + 1) != []
    await world.check_tallies()


async def test_an_id_that_comes_twice_is_named(postgres_world: World) -> None:
    batch = await with_lanes(postgres_world, batch_of(new_job()))
    batch.add_alike(0, batch.ids[5], "{}")
    before = await postgres_world.rows()
    with pytest.raises(InvalidInput, match=f"must be unique in a batch, got '{batch.ids[5]}'"):
        await postgres_world.store.enqueue(batch)
    assert await postgres_world.rows() == before


@pytest.mark.parametrize("place", [0, 150, MANY - 1])
async def test_an_id_that_is_there_already_is_answered_for(postgres_world: World, place: int) -> None:
    world = postgres_world
    batch = await with_lanes(world, batch_of(new_job()))
    await world.enqueue(batch[place])
    made = await world.store.enqueue(batch)
    assert [each.id for each in made] == batch.ids
    assert [each.created for each in made] == [n != place for n in range(MANY)]
    assert await world.count("job") == MANY + 1
    assert not any(each.created for each in await world.store.enqueue(batch)), "sent again"
    assert await world.count("job") == MANY + 1
    await world.check_tallies()


@pytest.mark.parametrize("place", [0, MANY - 1])
async def test_another_body_under_an_id_is_refused_with_all_others(postgres_world: World, place: int) -> None:
    world = postgres_world
    batch = await with_lanes(world, batch_of(new_job()))
    await world.enqueue(msgspec.structs.replace(batch[place], args='{"other":1}'))
    before = await world.rows()
    with pytest.raises(IdAlreadyUsed):
        await world.store.enqueue(batch)
    assert await world.rows() == before


async def test_failed_copy_leaves_nothing_and_a_clean_connection(postgres_world: World) -> None:
    world = postgres_world
    batch = await with_lanes(world, batch_of(new_job(), count=2_000))
    before = await world.rows()
    batch.args[-1] = None  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        await world.store.enqueue(batch)
    assert await world.rows() == before
    batch.args[-1] = "{}"
    assert all(each.created for each in await world.store.enqueue(batch))


@asynccontextmanager
async def waiting(world: World, batch: Batch, place: int) -> AsyncIterator[asyncio.Task[list[enqueues.Enqueued]]]:
    """Somebody makes one of these jobs and has not committed yet: whoever makes all of them waits for that."""
    database = world.store.database
    assert isinstance(database, PostgresDatabase)
    somebody: Any = await asyncpg.connect(database.url)
    try:
        await somebody.execute("BEGIN")
        await world.store.enqueue_within(somebody, [batch[place]])
        making = asyncio.create_task(world.store.enqueue(batch))
        assert await somebody_waits(database.url, making)
        yield making
    finally:
        await somebody.close()


@pytest.mark.parametrize("place", [0, 4_000])
async def test_a_caller_that_is_cancelled_in_the_middle_leaves_nothing(postgres_world: World, place: int) -> None:
    world = postgres_world
    batch = await with_lanes(world, batch_of(new_job(), count=10_000))
    before = await world.rows()
    async with waiting(world, batch, place) as making:
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
    assert await world.rows() == before
    assert all(each.created for each in await world.store.enqueue(batch))
    await world.check_tallies()


@pytest.mark.parametrize("place", [0, 4_000])
async def test_a_connection_that_breaks_in_the_middle_leaves_nothing(postgres_world: World, place: int) -> None:
    world = postgres_world
    batch = await with_lanes(world, batch_of(new_job(), count=10_000))
    before = await world.rows()
    async with waiting(world, batch, place) as making:
        await world.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        with pytest.raises(DatabaseUnavailable):
            await making
    assert await world.rows() == before
    assert all(each.created for each in await world.store.enqueue(batch))


async def test_first_of_two_batches_creates_a_shared_job(postgres_world: World) -> None:
    world = postgres_world
    batch = await with_lanes(world, batch_of(new_job(), count=1_000))
    backwards = Batch(1_000)
    backwards.add(msgspec.structs.replace(batch[-1]))
    for job in reversed(batch[:-1]):
        backwards.add_alike(0, job.id, job.args, job.meta)
    both = await asyncio.gather(world.store.enqueue(batch), world.store.enqueue(backwards))
    made = [{each.id for each in answers if each.created} for answers in both]
    assert made[0] ^ made[1] == set(batch.ids), "each by one of them"
    assert await world.count("job") == 1_001
    assert set(await world.states(batch.ids)) == {State.READY}
    await world.check_tallies()
