"""Ids of jobs on PostgreSQL, where they are in a table of their own: one for each job, and none without."""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from hanbeon.domain.job import NewJob, OnConflict
from hanbeon.errors import UniqueKeyTaken
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.surfaces.verify import verify
from tests.databases.locks import somebody_waits
from tests.store.world import World, new_id, new_job

_ALONE = """
SELECT (SELECT count(*) FROM hanbeon.job) AS jobs,
  (SELECT count(*) FROM hanbeon.job_id AS i JOIN hanbeon.job AS j ON j.id = i.id AND j.seq = i.seq) AS pairs,
  (SELECT count(*) FROM hanbeon.job_id) AS ids
"""


async def _check(world: World, jobs: int) -> None:
    assert tuple((await world.sql(_ALONE))[0]) == (jobs, jobs, jobs)


def _url(world: World) -> str:
    assert isinstance(world.store.database, PostgresDatabase)
    return world.store.database.url


async def _begin(world: World, somebody: Any, *jobs: NewJob) -> None:
    """Enqueue in a transaction of somebody else, who has not committed."""
    await somebody.execute("BEGIN")
    await world.store.enqueue_within(somebody, jobs)


@pytest.fixture
async def somebody(postgres_world: World) -> Any:
    connection: Any = await asyncpg.connect(_url(postgres_world))
    yield connection
    await connection.close()


@pytest.mark.parametrize("others", [0, 1, 60], ids=["single", "batch", "bulk"])
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
async def test_concurrent_enqueues_of_an_id_make_one_job(
    postgres_world: World, somebody: Any, end: str, others: int
) -> None:
    world, job = postgres_world, new_job()
    await world.make()
    await _begin(world, somebody, job)
    making = asyncio.create_task(_enqueue(world, job, others))
    assert await somebody_waits(_url(world), making)
    await somebody.execute(end)
    (made, *rest) = await making
    assert (made.id, made.created) == (job.id, end == "ROLLBACK")
    assert all(each.created for each in rest)
    await _check(world, 2 + others)


async def _enqueue(world: World, job: NewJob, others: int) -> Sequence[Enqueued]:
    return await world.store.enqueue([job, *(new_job() for _ in range(others))])


@pytest.mark.parametrize("others", [0, 3], ids=["single", "batch"])
@pytest.mark.parametrize("key", ["idempotency_key", "unique_key"])
async def test_rejected_jobs_leave_no_id(postgres_world: World, key: str, others: int) -> None:
    world = postgres_world
    keyed: dict[str, Any] = {key: "k", "on_conflict": OnConflict.SKIP}
    first = await world.make(**keyed)
    repeated = new_job(**keyed)
    (made, *_) = await _enqueue(world, repeated, others)
    assert (made.id, made.created) == (first, False)
    await _check(world, 1 + others)
    # Its id is free: another job may have it.
    await world.enqueue(new_job(id=repeated.id))
    await _check(world, 2 + others)


async def test_rejected_jobs_leave_no_id_in_a_users_transaction(postgres_world: World, somebody: Any) -> None:
    world = postgres_world
    await world.make(unique_key="k")
    async with somebody.transaction():
        skipped = new_job(unique_key="k", on_conflict=OnConflict.SKIP)
        (made, other) = await world.store.enqueue_within(somebody, [skipped, new_job()])
        assert (made.created, other.created) == (False, True)
        async with somebody.transaction():
            with pytest.raises(UniqueKeyTaken):
                await world.store.enqueue_within(somebody, [new_job(unique_key="k", on_conflict=OnConflict.REFUSE)])
    await _check(world, 2)


async def test_replaced_jobs_have_their_ids(postgres_world: World) -> None:
    world = postgres_world
    await world.make(unique_key="k", delay_us=10**12)
    heir = new_job(unique_key="k", on_conflict=OnConflict.REPLACE_PENDING)
    await world.enqueue(heir, new_job())
    await _check(world, 3)


async def test_pruning_deletes_ids(postgres_world: World) -> None:
    world = postgres_world
    ids = [await world.make() for _ in range(3)]
    for job_id in ids[:2]:
        await world.finish(job_id)
    await world.clock.advance(10)
    await world.store.prune(1, 10)
    await _check(world, 1)


async def test_verify_finds_jobs_without_ids(postgres_world: World) -> None:
    world, other = postgres_world, new_id()
    job_id = await world.make()
    assert (await verify(world.store)).sound
    await world.script(f"UPDATE hanbeon.job_id SET id = '{other}'")
    findings = (await verify(world.store)).findings
    assert [(each.code, each.job_id) for each in findings] == [("lost_job", None), ("lost_job", job_id)]
    await world.script("UPDATE hanbeon.job_id SET seq = seq + 1")
    assert len((await verify(world.store)).findings) == 2
    await world.script(f"UPDATE hanbeon.job_id SET id = '{job_id}', seq = seq - 1")
    assert (await verify(world.store)).sound
