"""The cost of a graph: a met dependency changes a number, and the dependent's own row only when it is free."""

from hanbeon.domain.lifecycle import State
from tests.store.world import World, new_job


async def test_a_dependent_that_still_waits_is_not_rewritten(postgres_world: World) -> None:
    world = postgres_world
    first, last = new_job(), new_job()
    whole = new_job(depends_on=(first.id, last.id))
    await world.enqueue(first, last, whole)
    before = await _version(world, whole.id)
    await world.finish(first.id)
    assert await world.state(whole.id) is State.PENDING
    assert (await world.job(whole.id)).unmet == 1
    assert await _version(world, whole.id) == before
    await world.finish(last.id)
    assert await world.state(whole.id) is State.READY
    assert await _version(world, whole.id) != before


async def test_a_count_goes_with_its_job(world: World) -> None:
    """Also that of a job whose dependency never succeeded."""
    cancelled = new_job()
    waits = new_job(depends_on=(cancelled.id,))
    await world.enqueue(cancelled, waits)
    for job in (waits, cancelled):
        await world.store.cancel(job.id)
    assert (await world.job(waits.id)).unmet == 1
    await world.clock.advance(10)
    while await world.store.prune(0, 100):
        pass
    assert (await world.count("job"), await world.count("unmet")) == (0, 0)


async def _version(world: World, job_id: str) -> str:
    (row,) = await world.sql(f"SELECT xmin::text || ctid::text AS version FROM hanbeon.job WHERE id = '{job_id}'")
    return str(row["version"])
