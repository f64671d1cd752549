"""Many write, some fold, one reads: the numbers of queues are exact in every snapshot, and nothing is folded twice."""

import asyncio
import contextlib
import random
from functools import partial

import pytest

from hanbeon.domain.job import OnConflict, OnDependencyFailure
from hanbeon.domain.outcome import HandedBack, PutOff, Raised, Returned, TimedOut
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import Conflict, DatabaseUnavailable, NotFound
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations.cancel import cancel, requeue
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.tallies import fold
from hanbeon.store.store import Store
from hanbeon.store.tx import Tx
from tests.processes.process import Process
from tests.store.test_concurrency import more_stores
from tests.store.world import LEASE_US, World, new_job

WRITERS, FOLDERS = 4, 2
OUTCOMES = (Returned(), Returned(), Raised("x"), Raised("x", permanent=True), TimedOut(), HandedBack(), PutOff(0))


async def churn(store: Store, number: int, rounds: int) -> None:
    """Every kind of move, in no order."""
    chance = random.Random(number)
    queue = "ab"[number % 2]
    for turn in range(rounds):
        first = new_job(queue=queue, policy=RetryPolicy(max_retries=1, base_us=0), concurrency_key=str(number))
        second = new_job(
            queue=queue,
            depends_on=(first.id,),
            on_dependency_failure=chance.choice(list(OnDependencyFailure)),
            unique_key=f"{queue}{turn % 3}",
            on_conflict=chance.choice([OnConflict.SKIP, OnConflict.REPLACE_PENDING]),
        )
        with contextlib.suppress(Conflict):
            await store.enqueue([first, second])
        held = (await store.claim(ClaimRequest(number, ["t"], 3, LEASE_US))).jobs
        await store.complete(
            [CompletionReport(job.seq, job.fence, chance.choice(OUTCOMES), instance=number) for job in held]
        )
        for ask in (cancel, requeue):
            if chance.random() < 0.4:
                job_id = chance.choice([first.id, second.id])
                with contextlib.suppress(Conflict, NotFound):
                    await store.write(partial(ask, lanes=store.lanes, job_id=job_id))
        if chance.random() < 0.3:
            await store.prune(-1, 5)


@pytest.mark.parametrize("seed", range(2))
async def test_every_snapshot_is_exact_while_others_write_and_fold(world: World, seed: int) -> None:
    rounds = 25 if world.on_postgres else 12
    looks = 0

    async def fold_on(store: Store) -> None:
        while not writing.done():
            # A process that gets no CPU for seconds is idle in its transaction, and the server ends that.
            with contextlib.suppress(DatabaseUnavailable):
                await store.number_events()
                await store.fold(limit=7)
            await asyncio.sleep(0)

    async def look() -> None:
        nonlocal looks
        while not writing.done() or looks <= 5:
            await world.check_tallies()
            looks += 1

    async with more_stores(world, WRITERS + FOLDERS) as stores:
        writing = asyncio.gather(*(churn(stores[n], seed * 10 + n, rounds) for n in range(WRITERS)))
        await asyncio.wait_for(asyncio.gather(writing, look(), *map(fold_on, stores[WRITERS:])), 300)
    await world.check_tallies()
    await world.fold()
    await world.check_tallies()
    assert await world.count("tally") > 0


async def test_two_who_fold_at_once_do_not_fold_twice_nor_wait(postgres_world: World) -> None:
    world = postgres_world
    for _ in range(3):
        await world.make()
    await world.store.number_events()
    folding, may_end = asyncio.Event(), asyncio.Event()

    async def slowly(tx: Tx) -> int:
        folded = await fold(tx, 1000)
        folding.set()
        await may_end.wait()
        return folded

    first = asyncio.create_task(world.store.write(slowly))
    await folding.wait()
    # The other comes away at once, and readers see none of it yet.
    assert await asyncio.wait_for(world.store.fold(), 120) == 0
    await world.check_tallies()
    assert await world.count("tally") == 0
    may_end.set()
    assert await first == 3
    assert await world.store.fold() == 0
    await world.check_tallies()


async def test_those_who_move_jobs_do_not_wait_for_one_who_folds(postgres_world: World) -> None:
    world = postgres_world
    job = await world.make()
    await world.store.number_events()
    folding, may_end = asyncio.Event(), asyncio.Event()

    async def slowly(tx: Tx) -> None:
        await fold(tx, 1000)
        folding.set()
        await may_end.wait()

    first = asyncio.create_task(world.store.write(slowly))
    await folding.wait()
    async with asyncio.timeout(120):
        await world.finish(job)
        await world.make()
        await world.store.number_events()
        await world.check_tallies()
        await world.store.prune(-1, 10)
        await world.check_tallies()
    may_end.set()
    await first
    await world.check_tallies()


async def test_a_folder_that_is_killed_half_way_has_changed_nothing(world: World) -> None:
    for _ in range(3):
        await world.finish(await world.make())
    while await world.store.number_events():
        pass
    database = world.store.database
    url = database.url if isinstance(database, PostgresDatabase) else f"sqlite:///{database.path}"
    with Process("tests.store.folder", [url]) as folder:
        folder.wait_ready()
        await world.check_tallies()
        folder.kill()
        folder.wait()
    await world.check_tallies()
    assert await world.count("tally") == 0
    if world.on_postgres:  # It lets go of the lock as soon as it has noticed.
        await world.sql("SELECT 1 FROM hanbeon.fold FOR UPDATE")
    assert await world.store.fold()
    await world.check_tallies()
    assert await world.count("tally") > 0
