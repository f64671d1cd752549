"""One job per cause: ids, idempotency keys and unique keys; and what a refused batch leaves behind: nothing."""

from collections.abc import Awaitable, Callable

import pytest

from hanbeon.domain.job import NewJob, OnConflict
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Raised
from hanbeon.errors import (
    DependencyCycle,
    HanbeonError,
    IdAlreadyUsed,
    InvalidInput,
    UniqueKeyTaken,
    UnknownDependency,
)
from tests.store.world import World, changed, new_id, new_job

SKIP, REPLACE = OnConflict.SKIP, OnConflict.REPLACE_PENDING


async def test_the_same_id_and_body_is_the_same_job(world: World) -> None:
    job = new_job(args="[1]", priority=3, delay_us=5)
    (first,) = await world.enqueue(job)
    rows = await world.rows()
    (again,) = await world.enqueue(job)
    assert (first.created, again.created, again.id, again.state) == (True, False, job.id, State.PENDING)
    assert await world.rows() == rows


async def test_the_same_id_is_the_same_job_in_every_state(world: World) -> None:
    job = new_job()
    await world.enqueue(job)
    await world.finish(job.id)
    (again,) = await world.enqueue(job)
    assert (again.created, again.state) == (False, State.SUCCEEDED)


async def test_another_body_under_the_same_id_is_refused(world: World) -> None:
    job = new_job(args="[1]")
    await world.enqueue(job)
    with pytest.raises(IdAlreadyUsed, match=f"id '{job.id}' was already used for job {job.id}") as refused:
        await world.enqueue(changed(job, args="[2]"))
    assert refused.value.job_id == job.id


async def test_an_idempotency_key_makes_one_job_whatever_the_id(world: World) -> None:
    job = new_job(idempotency_key="once")
    await world.enqueue(job)
    (again,) = await world.enqueue(changed(job, id=new_id()))
    assert (again.id, again.created) == (job.id, False)
    with pytest.raises(IdAlreadyUsed, match=f"idempotency_key 'once' was already used for job {job.id}"):
        await world.enqueue(changed(job, id=new_id(), args="[2]"))
    await world.finish(job.id)
    (again,) = await world.enqueue(changed(job, id=new_id()))
    assert (again.id, again.state) == (job.id, State.SUCCEEDED)


async def test_a_batch_may_hold_old_and_new_jobs(world: World) -> None:
    old, keyed = new_job(), new_job(idempotency_key="once")
    await world.enqueue(old, keyed)
    new = new_job()
    made = await world.enqueue(new, changed(keyed, id=new_id()), old)
    assert [(each.id, each.created) for each in made] == [(new.id, True), (keyed.id, False), (old.id, False)]


async def test_a_unique_key_is_held_by_one_unfinished_job(world: World) -> None:
    holder = await world.make(unique_key="key")
    with pytest.raises(UniqueKeyTaken, match=f"unique_key 'key' is held by job {holder}, which is ready") as refused:
        await world.make(unique_key="key")
    assert (refused.value.job_id, refused.value.key) == (holder, "key")
    held = await world.claim_this(holder)
    with pytest.raises(UniqueKeyTaken, match="running"):
        await world.make(unique_key="key")
    await world.settle(held)
    assert await world.state(await world.make(unique_key="key")) is State.READY


@pytest.mark.parametrize("end", [State.SUCCEEDED, State.FAILED, State.CANCELLED])
async def test_a_unique_key_is_free_when_its_holder_has_finished(world: World, end: State) -> None:
    holder = await world.make(unique_key="key")
    if end is State.CANCELLED:
        await world.store.cancel(holder)
    else:
        await world.finish(holder, Raised("boom") if end is State.FAILED else None)
    assert await world.state(holder) is end
    (made,) = await world.enqueue(new_job(unique_key="key", on_conflict=REPLACE))
    assert made.created
    assert await world.state(holder) is end


@pytest.mark.parametrize("running", [False, True])
async def test_skip_answers_with_the_holder(world: World, running: bool) -> None:
    holder = await world.make(unique_key="key")
    if running:
        await world.claim_this(holder)
    rows = await world.rows()
    (skipped,) = await world.enqueue(new_job(unique_key="key", on_conflict=SKIP, args="[2]"))
    assert (skipped.id, skipped.created) == (holder, False)
    assert skipped.state is (State.RUNNING if running else State.READY)
    assert await world.rows() == rows


@pytest.mark.parametrize("delay_us", [None, 10**9])
async def test_replace_takes_the_place_of_what_waits(world: World, delay_us: int | None) -> None:
    holder = await world.make(unique_key="key", delay_us=delay_us)
    heir = new_job(unique_key="key", on_conflict=REPLACE)
    await world.enqueue(heir)
    assert await world.states([holder, heir.id]) == [State.CANCELLED, State.READY]
    last = (await world.events(holder))[-1]
    assert (last.type, last.details) == ("replaced", {"replaced_by": heir.id})
    assert [(await world.job(each)).replaced_by for each in (holder, heir.id)] == [heir.id, None]


async def test_replace_is_refused_while_the_holder_runs(world: World) -> None:
    holder = await world.make(unique_key="key")
    held = await world.claim_this(holder)
    rows = await world.rows()
    with pytest.raises(UniqueKeyTaken, match="running"):
        await world.make(unique_key="key", on_conflict=REPLACE)
    assert await world.rows() == rows
    assert await world.settle(held) is not None


async def test_replacing_keeps_the_order_of_the_array(world: World) -> None:
    await world.make(unique_key="key")
    jobs = [new_job(), new_job(unique_key="key", on_conflict=REPLACE), new_job()]
    await world.enqueue(*jobs)
    assert await world.claim_ids() == [job.id for job in jobs]


async def test_asking_again_for_the_job_that_replaced_replaces_nothing(world: World) -> None:
    await world.make(unique_key="key")
    heir = new_job(unique_key="key", on_conflict=REPLACE)
    await world.enqueue(heir)
    rows = await world.rows()
    (again,) = await world.enqueue(heir)
    assert (again.id, again.created) == (heir.id, False)
    assert await world.rows() == rows


async def test_requeuing_is_refused_while_another_holds_the_unique_key(world: World) -> None:
    first = await world.make(unique_key="key")
    await world.finish(first, Raised("boom"))
    second = await world.make(unique_key="key")
    rows = await world.rows()
    with pytest.raises(UniqueKeyTaken, match=second):
        await world.requeue(first)
    assert await world.rows() == rows
    await world.finish(second)
    assert await world.requeue(first) is State.READY


async def _old_and(world: World, *more: NewJob) -> list[NewJob]:
    """A batch of which the first job is sound and new."""
    return [new_job(), *more]


async def _cycle(world: World) -> list[NewJob]:
    a, b, c = new_id(), new_id(), new_id()
    return await _old_and(
        world, new_job(id=a, depends_on=(b,)), new_job(id=b, depends_on=(c,)), new_job(id=c, depends_on=(a,))
    )


async def _self(world: World) -> list[NewJob]:
    a = new_id()
    return await _old_and(world, new_job(id=a, depends_on=(a,)))


async def _unknown(world: World) -> list[NewJob]:
    return await _old_and(world, new_job(depends_on=(new_id(),)))


async def _nonsense(world: World) -> list[NewJob]:
    return await _old_and(world, new_job(depends_on=("not an id",)))


async def _other_queue(world: World) -> list[NewJob]:
    return await _old_and(world, new_job(queue="other", depends_on=(await world.make(),)))


async def _other_queue_of_the_batch(world: World) -> list[NewJob]:
    first = new_job()
    return [first, new_job(queue="other", depends_on=(first.id,))]


async def _id_used(world: World) -> list[NewJob]:
    return await _old_and(world, new_job(id=await world.make(), args="[2]"))


async def _key_used(world: World) -> list[NewJob]:
    await world.make(idempotency_key="once")
    return await _old_and(world, new_job(idempotency_key="once", args="[2]"))


async def _unique_taken(world: World) -> list[NewJob]:
    await world.make(unique_key="replaced")
    await world.make(unique_key="taken")
    return await _old_and(
        world,
        new_job(unique_key="replaced", on_conflict=REPLACE),
        new_job(unique_key="taken", on_conflict=OnConflict.REFUSE),
    )


async def _doubled_id(world: World) -> list[NewJob]:
    job = new_job()
    return [job, changed(job, args="[2]")]


async def _doubled_key(world: World) -> list[NewJob]:
    return [new_job(idempotency_key="once"), new_job(idempotency_key="once")]


async def _doubled_unique_key(world: World) -> list[NewJob]:
    return [new_job(unique_key="key", on_conflict=SKIP), new_job(unique_key="key", on_conflict=SKIP)]


REFUSED: dict[str, tuple[Callable[[World], Awaitable[list[NewJob]]], type[HanbeonError]]] = {
    "cycle": (_cycle, DependencyCycle),
    "self": (_self, DependencyCycle),
    "unknown dependency": (_unknown, UnknownDependency),
    "dependency that is no id": (_nonsense, UnknownDependency),
    "dependency of another queue": (_other_queue, UnknownDependency),
    "dependency of another queue in the batch": (_other_queue_of_the_batch, UnknownDependency),
    "id used": (_id_used, IdAlreadyUsed),
    "idempotency key used": (_key_used, IdAlreadyUsed),
    "unique key taken": (_unique_taken, UniqueKeyTaken),
    "doubled id": (_doubled_id, InvalidInput),
    "doubled idempotency key": (_doubled_key, InvalidInput),
    "doubled unique key": (_doubled_unique_key, InvalidInput),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_refused_batch_leaves_nothing_behind(world: World, name: str) -> None:
    make, error = REFUSED[name]
    batch = await make(world)
    rows, jobs = await world.rows(), await world.sql("SELECT * FROM hanbeon.job ORDER BY seq")
    events = await world.events()
    with pytest.raises(error):
        await world.store.enqueue(batch)
    assert await world.events() == events
    assert await world.rows() == rows
    assert [tuple(row) for row in await world.sql("SELECT * FROM hanbeon.job ORDER BY seq")] == [tuple(j) for j in jobs]


async def test_a_cycle_is_named_by_its_ids(world: World) -> None:
    batch = await _cycle(world)
    with pytest.raises(DependencyCycle) as refused:
        await world.store.enqueue(batch)
    assert set(refused.value.ids) == {job.id for job in batch[1:]}
    depends_on = {job.id: job.depends_on for job in batch}
    ids = refused.value.ids
    assert all(ids[(n + 1) % len(ids)] in depends_on[ids[n]] for n in range(len(ids)))


async def test_an_empty_batch_is_fine_and_writes_nothing(world: World) -> None:
    rows = await world.rows()
    assert await world.store.enqueue([]) == []
    assert await world.rows() == rows
