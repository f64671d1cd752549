"""Many at once, over many connections: nothing is claimed twice, nothing gets stuck, nobody deadlocks."""

import asyncio
import contextlib
import random
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from hanbeon.clock import SystemClock
from hanbeon.domain.job import NewJob, OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import UNFINISHED, State
from hanbeon.domain.outcome import HandedBack, Outcome, Raised, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import Conflict, HanbeonError, UniqueKeyTaken
from hanbeon.store.backends import open_store
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations import queries
from hanbeon.store.operations.cancel import reprioritise, requeue
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.enqueue import Enqueued
from hanbeon.store.operations.lease import Lease, renew
from hanbeon.store.operations.queries import attempts_of, jobs_by_id
from hanbeon.store.store import Store
from hanbeon.surfaces.store_parts import add_surfaces
from tests.databases.locks import somebody_waits
from tests.store.claimer import claim_all
from tests.store.world import LEASE_US, World, changed, lease_of, new_id, new_job

# SQLite's writers wait for each other by sleeping, so many of them take long.
ENQUEUERS = {True: 16, False: 5}
FAIL = OnDependencyFailure.FAIL


@contextlib.asynccontextmanager
async def more_stores(world: World, count: int) -> AsyncIterator[list[Store]]:
    """Further instances on the same database, each with connections of its own."""
    database = world.store.database
    url = database.url if isinstance(database, PostgresDatabase) else f"sqlite:///{database.path}"
    async with contextlib.AsyncExitStack() as stack:
        stores = []
        for _ in range(count):
            store = add_surfaces(open_store(url, world.clock, pool_size=2))
            await store.open()
            stack.push_async_callback(store.close)
            stores.append(store)
        yield stores


async def together(*things: Awaitable[Any]) -> list[Any]:
    """Run them concurrently; return each result or exception."""
    return await asyncio.gather(*things, return_exceptions=True)


@pytest.mark.parametrize("limits", [{}, {"max_concurrent": 5, "max_per_key": 2}])
async def test_racing_claimers_never_claim_one_job_twice(world: World, limits: dict[str, int]) -> None:
    jobs = [new_job(concurrency_key="abc"[n % 3], priority=n % 2) for n in range(120)]
    await world.enqueue(*jobs)
    await world.store.change_queue("default", limits)
    held: set[tuple[str, str]] = set()
    claimed: Counter[str] = Counter()
    keys = {job.id: job.concurrency_key for job in jobs}

    async def claim_and_settle(store: Store, instance: int) -> None:
        while sum(claimed.values()) < len(jobs):
            answer = await store.claim(ClaimRequest(instance, ["t"], 1 + instance % 3, LEASE_US))
            mine = {(job.id, keys[job.id]) for job in answer.jobs}
            claimed.update(job.id for job in answer.jobs)
            held.update(mine)
            if limits:
                assert len(held) <= limits["max_concurrent"]
                assert max(Counter(key for _, key in held).values(), default=0) <= limits["max_per_key"]
            await asyncio.sleep(0)
            held.difference_update(mine)
            await store.complete(
                [CompletionReport(job.seq, job.fence, Returned(), instance=instance) for job in answer.jobs]
            )

    async with more_stores(world, 6) as stores:
        await asyncio.wait_for(asyncio.gather(*map(claim_and_settle, stores, range(6))), 300)
    assert set(claimed.values()) == {1}
    assert (await world.counts())[State.SUCCEEDED] == len(jobs)
    await world.events()


@pytest.mark.parametrize("how", ["threads", "processes"])
async def test_sqlite_claimers_share_the_work(sqlite_url: str, how: str) -> None:
    store = add_surfaces(open_store(sqlite_url, SystemClock()))
    await store.open()
    jobs = [new_job() for _ in range(150)]
    await store.enqueue(jobs)
    if how == "threads":
        with ThreadPoolExecutor(4) as threads:
            answers = [
                asyncio.wrap_future(threads.submit(lambda n=n: asyncio.run(claim_all(sqlite_url, n, 2))))  # type: ignore[misc]
                for n in range(4)
            ]
            claimed = [job_id for ids in await asyncio.gather(*answers) for job_id in ids]
    else:
        claimed = await asyncio.to_thread(_claim_in_processes, sqlite_url)
    await store.close()
    assert sorted(claimed) == sorted(job.id for job in jobs)


def _claim_in_processes(url: str) -> list[str]:
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.store.claimer", url, str(n), "2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    claimed = []
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        claimed += out.split()
    return claimed


async def test_replace_tolerates_a_pruned_holder(
    postgres_world: World,
) -> None:
    world = postgres_world
    holder = await world.make(unique_key="u", delay_us=10**9)
    heir = new_job(unique_key="u", on_conflict=OnConflict.REPLACE_PENDING)
    database = world.store.database
    assert isinstance(database, PostgresDatabase)
    async with database.connection() as other, other.transaction():
        await other.execute("SELECT 1 FROM hanbeon.job WHERE id = $1 FOR UPDATE", holder)
        making = asyncio.create_task(world.store.enqueue([heir]))
        assert await somebody_waits(database.url, making)
        await other.execute("DELETE FROM hanbeon.job WHERE id = $1", holder)
    (made,) = await making
    assert (made.id, made.created) == (heir.id, True)


async def test_renew_and_recover_skip_locked_rows(postgres_world: World) -> None:
    """A task that holds its own job's row locked, say, delays no other lease."""
    world = postgres_world
    first, second = [await world.claim_this(await world.make(policy=RetryPolicy())) for _ in range(2)]
    database = world.store.database
    assert isinstance(database, PostgresDatabase)
    async with database.connection() as other, other.transaction():
        await other.execute("SELECT 1 FROM hanbeon.job WHERE seq = $1 FOR UPDATE", first.seq)
        await world.clock.advance(20)
        facts = await asyncio.wait_for(
            world.store.write(lambda tx: renew(tx, [lease_of(first), lease_of(second)], LEASE_US)), 60
        )
        assert (facts.renewed, facts.lost, facts.stop) == ({second.seq}, set(), set())
        await world.clock.advance(10)
        facts = await asyncio.wait_for(
            world.store.write(lambda tx: renew(tx, [lease_of(first), lease_of(second)], LEASE_US)), 60
        )
        assert (facts.renewed, facts.lost) == ({second.seq}, {first.seq})
        assert await asyncio.wait_for(world.recover(10), 60) == []
    (recovered,) = await world.recover(10)
    assert recovered.seq == first.seq


async def test_a_settlement_that_waited_past_its_lease_is_refused(postgres_world: World) -> None:
    """The clock that counts is the one read after the lock was had."""
    world = postgres_world
    held = await world.claim_this(await world.make())
    database = world.store.database
    assert isinstance(database, PostgresDatabase)
    async with database.connection() as other, other.transaction():
        await other.execute("SELECT 1 FROM hanbeon.job WHERE seq = $1 FOR UPDATE", held.seq)
        settling = asyncio.create_task(world.store.complete([CompletionReport(held.seq, held.fence, Returned())]))
        await _until_somebody_waits(other)
        await world.clock.advance(30)
    assert await settling == []
    assert await world.state(held.id) is State.RUNNING


async def test_late_success_of_a_reclaimed_job_is_rejected(postgres_world: World) -> None:
    """The fast path rechecks the row once it holds the lock."""
    world = postgres_world
    held = await world.claim_this(await world.make())
    database = world.store.database
    assert isinstance(database, PostgresDatabase)
    async with database.connection() as other, other.transaction():
        await other.execute("UPDATE hanbeon.job SET fence = fence + 1 WHERE seq = $1", held.seq)
        settling = asyncio.create_task(world.settle(held))
        await _until_somebody_waits(other)
    assert await settling is None
    assert await world.state(held.id) is State.RUNNING
    assert await world.count("attempt") == 0


async def _until_somebody_waits(connection: Any) -> None:
    # The server tells nobody, so it is asked.
    while not await connection.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):  # noqa: ASYNC110
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("succeeds", [True, False])
async def test_dependent_of_an_ending_job_is_never_stuck(world: World, succeeds: bool) -> None:
    rounds = 150
    ids = [await world.make() for _ in range(rounds)]
    held = {job.id: job for job in await world.claim(rounds)}
    async with more_stores(world, 2) as (enqueuer, settler):
        await enqueuer.enqueue([new_job(queue="other")])
        for dependency in ids:
            job = held[dependency]
            dependent = new_job(depends_on=(dependency,), on_dependency_failure=FAIL)
            outcome = Returned() if succeeds else Raised("boom")
            report = CompletionReport(job.seq, job.fence, outcome, instance=random.choice([None, job.instance]))
            things = [enqueuer.enqueue([dependent]), settler.complete([report])]
            if random.random() < 0.5:
                things.reverse()
            for answer in await together(*things):
                assert not isinstance(answer, BaseException), answer
            (made,) = await world.store.read(partial(jobs_by_id, ids=[dependent.id]))
            assert (made.state, made.unmet) == ((State.READY, 0) if succeeds else (State.FAILED, 1))
    await world.events()


async def test_completers_that_share_dependents_do_not_deadlock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # A deadlock would be tried again: here it shall be seen.
    monkeypatch.setattr("hanbeon.store.database.postgres._TRIES", 1)
    left, right = [new_job() for _ in range(40)], [new_job() for _ in range(40)]
    both = [new_job(depends_on=(a.id, b.id)) for a, b in zip(left, reversed(right), strict=True)]
    both += [new_job(depends_on=(b.id, a.id), on_dependency_failure=FAIL) for a, b in zip(left, right, strict=True)]
    await world.enqueue(*both, *left, *right)
    held = {job.id: job for job in await world.claim(100)}

    async def settle(store: Store, jobs: list[NewJob]) -> None:
        for start in range(0, len(jobs), 8):
            mine = [held[job.id] for job in jobs[start : start + 8]]
            random.shuffle(mine)
            reports = [CompletionReport(job.seq, job.fence, Returned(), instance=job.instance) for job in mine]
            assert len(await store.complete(reports)) == len(mine)

    async with more_stores(world, 4) as stores:
        random.shuffle(left)
        random.shuffle(right)
        parts = [left[::2], left[1::2], right[::2], right[1::2]]
        await asyncio.wait_for(asyncio.gather(*map(settle, stores, parts)), 300)
    assert {job.state for job in await world.store.read(lambda tx: jobs_by_id(tx, [job.id for job in both]))} == {
        State.READY
    }


@pytest.mark.parametrize("on_conflict", OnConflict)
async def test_one_of_many_enqueuers_gets_the_unique_key(world: World, on_conflict: OnConflict) -> None:
    many = ENQUEUERS[world.on_postgres]
    async with more_stores(world, many) as stores:
        for store in stores:
            await store.write(partial(store.lanes.ensure, names=[new_job().lane]))
        for n in range(5):
            key = f"key {n}"
            jobs = [new_job(unique_key=key, on_conflict=on_conflict, args=f"[{place}]") for place in range(many)]
            answers = await together(*[store.enqueue([job]) for store, job in zip(stores, jobs, strict=True)])
            made = [answer[0] for answer in answers if isinstance(answer, list)]
            created = [each for each in made if each.created]
            unfinished = [
                job
                for job in await world.store.read(partial(jobs_by_id, ids=[job.id for job in jobs]))
                if job.state in UNFINISHED
            ]
            assert len(unfinished) == 1
            refused = [answer for answer in answers if isinstance(answer, BaseException)]
            if on_conflict is OnConflict.REPLACE_PENDING:
                assert all(isinstance(error, Conflict) for error in refused)
                assert len(created) + len(refused) == many
                continue
            assert len(created) == 1
            if on_conflict is OnConflict.REFUSE:
                assert all(isinstance(error, UniqueKeyTaken) for error in refused)
                assert len(refused) == many - 1
            else:
                assert not refused
                assert {each.id for each in made} == {created[0].id}
    await world.events()


async def test_one_idempotency_key_or_id_makes_one_job_for_all(world: World) -> None:
    async with more_stores(world, ENQUEUERS[world.on_postgres]) as stores:
        for n in range(3):
            keyed, fixed = new_job(idempotency_key=f"key {n}"), new_job()
            for jobs in ([changed(keyed, id=new_id()) for _ in stores], [fixed for _ in stores]):
                answers = await asyncio.gather(*[s.enqueue([job]) for s, job in zip(stores, jobs, strict=True)])
                made: list[Enqueued] = [answer[0] for answer in answers]
                assert [each.created for each in made].count(True) == 1
                assert len({each.id for each in made}) == 1
    assert len([event for event in await world.events() if event.type == "enqueued"]) == 6


async def test_one_of_many_requeued_jobs_gets_the_unique_key(world: World) -> None:
    ids = []
    for _ in range(8):
        ids.append(await world.make(unique_key="key"))
        await world.finish(ids[-1], Raised("boom"))
    async with more_stores(world, 8) as stores:
        answers = await together(
            *[
                store.write(partial(requeue, lanes=store.lanes, job_id=job_id))
                for store, job_id in zip(stores, ids, strict=True)
            ]
        )
    assert [type(answer) for answer in answers].count(State) == 1
    assert [type(answer) for answer in answers].count(UniqueKeyTaken) == 7


async def test_new_lanes_and_queues_are_made_once(world: World) -> None:
    async with more_stores(world, 8) as stores:
        batches = [[new_job(queue=f"q{n}", role=f"r{n}") for n in range(5)] for _ in stores]
        await asyncio.gather(*[store.enqueue(batch) for store, batch in zip(stores, batches, strict=True)])
        numbers = {tuple(store.lanes.number(job.lane) for job in batches[0]) for store in stores}
    assert len(numbers) == 1
    assert (await world.count("queue"), await world.count("lane"), await world.count("job")) == (5, 5, 40)


async def test_prune_leaves_no_dependent_waiting_forever(world: World) -> None:
    """Either the old job is there with the new one behind it, or the new one is refused."""
    async with more_stores(world, 2) as (enqueuer, pruner):
        for _ in range(40):
            failed = await world.make()
            await world.finish(failed, Raised("boom"))
            await world.clock.advance(10)
            dependent = new_job(depends_on=(failed,))
            things = [enqueuer.enqueue([dependent]), pruner.prune(1_000_000, 100)]
            if random.random() < 0.5:
                things.reverse()
            await together(*things)
            made = await world.store.read(partial(jobs_by_id, ids=[dependent.id]))
            there = await world.store.read(partial(jobs_by_id, ids=[failed]))
            assert len(made) == len(there)
            for job in made:
                await world.requeue(failed)
                await world.finish(failed)
                await world.finish(job.id)


async def test_a_storm_of_commands_leaves_a_legal_history(world: World) -> None:
    """Every command against every other on a handful of jobs: typed refusals, no deadlock that is not undone."""
    dice = random.Random(7)
    roots = [new_job(policy=RetryPolicy(max_retries=2, base_us=0)) for _ in range(4)]
    leaves = [
        new_job(depends_on=tuple(job.id for job in dice.sample(roots, 2)), on_dependency_failure=policy)
        for policy in (FAIL, OnDependencyFailure.BLOCK)
        for _ in range(4)
    ]
    await world.enqueue(*leaves, *roots)
    ids = [job.id for job in roots + leaves]
    leases: list[Lease] = []

    async def command(store: Store) -> None:
        job_id = dice.choice(ids)
        match dice.randrange(9):
            case 0 | 1 | 2:
                answer = await store.claim(ClaimRequest(1, ["t"], 2, LEASE_US))
                leases.extend(map(lease_of, answer.jobs))
            case 3 | 4 | 5:
                outcomes: list[Outcome] = [Returned(), Raised("boom"), HandedBack(), Raised("boom", permanent=True)]
                mine = [leases.pop(dice.randrange(len(leases))) for _ in range(min(2, len(leases)))]
                await store.complete(
                    [CompletionReport(lease.seq, lease.fence, dice.choice(outcomes)) for lease in mine]
                )
            case 6:
                await store.cancel(job_id)
            case 7:
                await store.write(partial(requeue, lanes=store.lanes, job_id=job_id))
            case _:
                await store.write(lambda tx: reprioritise(tx, store.lanes, job_id, dice.randrange(9), None))

    async def commands(store: Store) -> None:
        for _ in range(40):
            with contextlib.suppress(HanbeonError):
                await command(store)

    async with more_stores(world, 6) as stores:
        await asyncio.wait_for(asyncio.gather(*map(commands, stores)), 300)
    events = await world.events()
    last = {event.job_id: event.state for event in events}
    jobs = {job.id: job for job in await world.store.read(lambda tx: jobs_by_id(tx, ids))}
    for job in jobs.values():
        assert last[job.id] is job.state
        unmet = [
            dep
            for dep in await world.store.read(partial(queries.dependencies_of, job_id=job.id))
            if dep.state is not State.SUCCEEDED
        ]
        assert job.unmet == len(unmet)
        assert len(await world.store.read(partial(attempts_of, job_id=job.id))) == job.fence - (
            job.state is State.RUNNING
        )


async def test_a_plain_load_meets_no_deadlock(postgres_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enqueue, claim, settle and prune all at once over shared jobs."""
    world = postgres_world
    monkeypatch.setattr("hanbeon.store.database.postgres._TRIES", 1)
    async with more_stores(world, 6) as stores:

        async def enqueue(store: Store) -> None:
            for _ in range(15):
                top = new_job(policy=RetryPolicy(max_retries=1, base_us=0))
                await store.enqueue([new_job(depends_on=(top.id,)) for _ in range(3)] + [top])

        async def work(store: Store) -> None:
            for _ in range(25):
                answer = await store.claim(ClaimRequest(1, ["t"], 10, LEASE_US))
                ends: list[Outcome] = [Returned(), Raised("boom")]
                await store.complete(
                    [CompletionReport(job.seq, job.fence, random.choice(ends), instance=1) for job in answer.jobs]
                )
                await store.prune(0, 10)

        loads = [enqueue(stores[0]), enqueue(stores[1]), *map(work, stores[2:])]
        assert [error for error in await together(*loads) if error is not None] == []
    await world.events()
