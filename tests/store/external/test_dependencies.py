"""Dependencies may end while a caller's transaction is open: no completion waits, and no dependent is stuck."""

import asyncio
import random
from functools import partial
from typing import Any

import pytest

from hanbeon.domain.job import Claimed, OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import Conflict
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.store.operations import queries
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.promote import next_due_us, promote
from hanbeon.store.operations.queries import jobs_by_id
from hanbeon.surfaces.verify import verify
from tests.store.external.callers import of_asyncpg
from tests.store.world import World, new_job

PENDING, READY, FAILED, CANCELLED = State.PENDING, State.READY, State.FAILED, State.CANCELLED
FAIL, BLOCK = OnDependencyFailure.FAIL, OnDependencyFailure.BLOCK
SOON = 60


def url_of(world: World) -> str:
    assert isinstance(world.store.database, PostgresDatabase)
    return world.store.database.url


async def end(world: World, held: Claimed, how: str) -> None:
    """End a running job some way, together with others in one batch, as the engine does."""
    other = await world.make(priority=-1)
    others = await world.claim(1)
    assert [each.id for each in others] == [other]
    if how == "cancelled":
        assert await world.store.cancel(held.id) is State.RUNNING
    outcome = Raised("boom") if how == "failed" else Returned()
    reports = [CompletionReport(each.seq, each.fence, outcome, instance=each.instance) for each in (held, *others)]
    assert len(await world.store.complete(reports)) == 2


@pytest.mark.parametrize("policy", [BLOCK, FAIL])
@pytest.mark.parametrize("how", ["succeeded", "failed", "cancelled"])
async def test_a_dependency_that_ends_before_the_commit(
    postgres_world: World, how: str, policy: OnDependencyFailure
) -> None:
    world = postgres_world
    held = await world.claim_this(await world.make())
    waits = new_job(depends_on=(held.id,), on_dependency_failure=policy)
    behind = new_job(depends_on=(waits.id,))
    async with of_asyncpg(url_of(world)) as caller:
        made = await world.store.enqueue_within(caller.transaction, [waits, behind])
        assert [each.state for each in made] == [PENDING, PENDING]
        # The caller sleeps in its transaction, and the engine's completion does not wait for it.
        await asyncio.wait_for(end(world, held, how), SOON)
        assert await world.promote(10) == 0
        await caller.commit()
    assert (await world.job(waits.id)).unmet == 1
    assert (await verify(world.store)).findings == ()  # Too high is sound, as long as it is marked.
    assert await world.store.read(next_due_us) == 0
    assert await world.promote(10) == 1
    assert await world.store.read(next_due_us) is None
    if how == "succeeded":
        assert await world.states([waits.id, behind.id]) == [READY, PENDING]
        assert await world.reasons(waits.id) == ["scheduled", "promoted"]
        await world.finish(waits.id)
        await world.finish(behind.id)
    elif policy is FAIL:
        assert await world.states([waits.id, behind.id]) == [FAILED, FAILED]
        assert await world.reasons(waits.id) == ["scheduled", "dependency_failed"]
    else:
        assert await world.states([waits.id, behind.id]) == [PENDING, PENDING]
        await world.requeue(held.id)
        await world.finish(held.id)
        await world.finish(waits.id)
        await world.finish(behind.id)
    assert (await verify(world.store)).findings == ()


@pytest.mark.parametrize("counted_again", [True, False])
async def test_a_dependency_that_ends_after_the_commit(postgres_world: World, counted_again: bool) -> None:
    world = postgres_world
    held = await world.claim_this(await world.make())
    waits = new_job(depends_on=(held.id,))
    async with of_asyncpg(url_of(world)) as caller:
        await world.store.enqueue_within(caller.transaction, [waits])
        await caller.commit()
    if counted_again:
        assert await world.promote(10) == 1
        assert (await world.job(waits.id)).unmet == 1
    assert await world.settle(held) is not None
    assert await world.state(waits.id) is READY
    moved, after = await world.store.database.transact(lambda tx: promote(tx, world.store.lanes, 10))
    assert moved == (0 if counted_again else 1)
    if not counted_again:
        assert "work" in after.hints  # Who wanted to claim it meanwhile found it locked.
    await world.finish(waits.id)
    assert await world.store.read(next_due_us) is None
    assert (await verify(world.store)).findings == ()


@pytest.mark.parametrize("before", ["succeeded", "failed"])
async def test_a_dependency_that_had_ended_already(postgres_world: World, before: str) -> None:
    world = postgres_world
    done = await world.make()
    await world.finish(done, Returned() if before == "succeeded" else Raised("boom"))
    waits = new_job(depends_on=(done,), on_dependency_failure=FAIL)
    async with of_asyncpg(url_of(world)) as caller:
        (made,) = await world.store.enqueue_within(caller.transaction, [waits])
        assert made.state is (READY if before == "succeeded" else PENDING)
        await caller.commit()
    assert await world.promote(10) == (0 if before == "succeeded" else 1)
    assert await world.state(waits.id) is (READY if before == "succeeded" else FAILED)


async def test_a_batch_may_name_jobs_made_before_it(postgres_world: World) -> None:
    """An earlier job that stands for one of the batch may end unseen, too."""
    world = postgres_world
    first = new_job()
    await world.enqueue(first)
    held = await world.claim_this(first.id)
    waits, other = new_job(depends_on=(first.id,)), new_job(delay_us=10**9)
    holder = await world.make(unique_key="u", args="[1]")
    skipped = new_job(unique_key="u", on_conflict=OnConflict.SKIP)
    also = new_job(depends_on=(skipped.id, other.id))
    async with of_asyncpg(url_of(world)) as caller:
        made = await world.store.enqueue_within(caller.transaction, [first, waits, skipped, other, also])
        assert [each.created for each in made] == [False, True, False, True, True]
        await asyncio.wait_for(world.settle(held), SOON)
        await asyncio.wait_for(world.finish(holder), SOON)
        await caller.commit()
    assert await world.promote(10) == 2
    assert await world.states([waits.id, also.id]) == [READY, PENDING]
    assert (await world.job(also.id)).unmet == 1
    assert (await verify(world.store)).findings == ()


async def test_prune_skips_dependencies_of_open_transactions(postgres_world: World) -> None:
    world = postgres_world
    done, other = await world.make(), await world.make()
    await world.finish(done)
    await world.finish(other)
    await world.clock.advance(100)
    waits = new_job(depends_on=(done,))
    async with of_asyncpg(url_of(world)) as caller:
        await world.store.enqueue_within(caller.transaction, [waits])
        await asyncio.wait_for(world.store.prune(1, 100), SOON)
        assert [job.id for job in await world.store.read(lambda tx: jobs_by_id(tx, [done, other]))] == [done]
        await caller.commit()
    await world.store.prune(1, 100)
    assert [job.id for job in await world.store.read(lambda tx: jobs_by_id(tx, [done]))] == [done]
    assert (await verify(world.store)).findings == ()


async def test_recount_wakes_claims_that_skipped_its_locks(postgres_world: World) -> None:
    world = postgres_world
    first = await world.make()
    async with of_asyncpg(url_of(world)) as caller:
        await world.store.enqueue_within(caller.transaction, [new_job(depends_on=(first,))])
        await caller.commit()
    _, after = await world.store.database.transact(lambda tx: promote(tx, world.store.lanes, 10))
    assert "work" in after.hints


async def test_one_cancelled_before_it_is_counted_again_can_be_retried(postgres_world: World) -> None:
    world = postgres_world
    held = await world.claim_this(await world.make())
    waits = new_job(depends_on=(held.id,))
    async with of_asyncpg(url_of(world)) as caller:
        await world.store.enqueue_within(caller.transaction, [waits])
        await world.settle(held)
        await caller.commit()
    await world.store.cancel(waits.id)
    assert await world.requeue(waits.id) is PENDING
    assert await world.promote(10) == 1
    assert await world.state(waits.id) is READY


async def test_recounts_and_completions_do_not_deadlock(postgres_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything at once: callers that commit, completions of what they wait for, and instances that count again."""
    monkeypatch.setattr(
        "hanbeon.store.database.postgres._TRIES", 1
    )  # A deadlock would be tried again: here it shall be seen.
    world = postgres_world
    dice = random.Random(11)
    ids = [await world.make(policy=RetryPolicy(max_retries=0)) for _ in range(60)]
    held = {job.id: job for job in await world.claim(60)}
    committed: list[str] = []

    async def call(mine: list[str]) -> None:
        for first, second in zip(mine[::2], mine[1::2], strict=True):
            job = new_job(
                depends_on=tuple(dice.sample([first, second], 2)),
                on_dependency_failure=dice.choice([*OnDependencyFailure]),
            )
            async with of_asyncpg(url_of(world)) as caller:
                await world.store.enqueue_within(caller.transaction, [job, new_job(depends_on=(job.id,), priority=1)])
                await asyncio.sleep(dice.random() / 100)
                await caller.commit()
            async with of_asyncpg(url_of(world)) as caller:
                await world.store.enqueue_within(
                    caller.transaction, [last := new_job(depends_on=(job.id,), priority=1)]
                )
                await caller.commit()
            committed.extend([job.id, last.id])

    async def complete(mine: list[str]) -> None:
        for start in range(0, len(mine), 5):
            batch = [held[job_id] for job_id in mine[start : start + 5]]
            outcomes: list[Any] = [Returned() if dice.random() < 0.7 else Raised("boom") for _ in batch]
            reports = [
                CompletionReport(j.seq, j.fence, o, instance=j.instance) for j, o in zip(batch, outcomes, strict=True)
            ]
            assert len(await world.store.complete(reports)) == len(batch)
            await asyncio.sleep(dice.random() / 50)

    async def count(_: int) -> None:
        while len(committed) < 120 or await world.store.read(next_due_us) is not None:
            await world.promote(dice.choice([1, 3, 100]))
            await asyncio.sleep(dice.random() / 200)

    shuffled = dice.sample(ids, len(ids))
    async with asyncio.timeout(300):
        await asyncio.gather(
            call(ids), call(shuffled), complete(shuffled[::2]), complete(shuffled[1::2]), *map(count, range(3))
        )
    for job_id in committed:
        dependencies = await world.store.read(partial(queries.dependencies_of, job_id=job_id))
        job = await world.job(job_id)
        assert job.unmet == sum(each.state is not State.SUCCEEDED for each in dependencies)
        if not job.unmet:
            assert job.state is READY
        else:
            hopeless = any(each.state in (FAILED, CANCELLED) for each in dependencies)
            if len(dependencies) == 1:
                # Blocked, or failed along with what it waits for, if that failed when both were there.
                assert job.state in ((FAILED, PENDING) if hopeless else (PENDING,))
            else:
                assert job.state is (FAILED if hopeless and job.on_dependency_failure is FAIL else PENDING)
    assert (await verify(world.store)).findings == ()


async def test_a_holder_that_waits_for_others_is_not_replaced(postgres_world: World) -> None:
    """Its row would stay locked, and whoever completes what it waits for would wait for the caller."""
    world = postgres_world
    held = await world.claim_this(await world.make())
    await world.make(depends_on=(held.id,), unique_key="u")
    new = new_job(unique_key="u", on_conflict=OnConflict.REPLACE_PENDING)
    async with of_asyncpg(url_of(world)) as caller:
        with pytest.raises(Conflict, match="has dependencies or dependents"):
            await world.store.enqueue_within(caller.transaction, [new])
        await asyncio.wait_for(end(world, held, "succeeded"), SOON)
        await caller.commit()
