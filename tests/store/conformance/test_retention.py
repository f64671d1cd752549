"""Retention: old rows are deleted, needed ones are kept."""

from functools import partial

import msgspec
import pytest

from hanbeon.domain.job import OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Raised
from hanbeon.errors import Conflict, JobNotFound
from hanbeon.store.operations.events import events_after
from hanbeon.store.operations.idempotency import KEPT_US, IdempotentRequest, begin_request
from hanbeon.store.operations.instances import instances, register
from hanbeon.store.operations.prune import Retained, retain
from tests.store.conformance.test_instances import NEW
from tests.store.world import World, new_job

DAY = 86_400.0
DAY_US = 86_400_000_000


async def _prune(world: World, limit: int = 1000) -> int:
    await world.fold()
    total = 0
    while gone := await world.store.prune(DAY_US, limit):
        total += gone
    return total


async def test_finished_jobs_go_with_their_attempts_edges_and_events(world: World) -> None:
    first = await world.make()
    then = await world.make(depends_on=(first,))
    await world.finish(first)
    await world.finish(then)
    await world.events()
    await world.clock.advance(DAY)
    assert await _prune(world) == 0
    await world.clock.advance(0.001)
    assert await _prune(world) > 0
    assert [await world.count(table) for table in ("job", "edge", "attempt")] == [0, 0, 0]
    # What is left tells of this pruning, and is not old.
    (row,) = await world.sql("SELECT body FROM hanbeon.event_batch")
    (event,) = msgspec.json.decode(row["body"])
    assert (event["type"], event["queue"], event["details"]) == (
        "pruned",
        "default",
        {"states": {"succeeded": 2}, "ran": 0},
    )
    with pytest.raises(JobNotFound, match="pruned"):
        await world.job(first)


async def test_unfinished_jobs_stay_however_old(world: World) -> None:
    running = await world.make()
    await world.claim_this(running)
    ready, pending = await world.make(), await world.make(delay_us=10**15)
    await world.clock.advance(3 * DAY)
    await _prune(world)
    assert await world.states([running, ready, pending]) == [State.RUNNING, State.READY, State.PENDING]


async def test_a_job_that_an_unfinished_one_depends_on_is_kept(world: World) -> None:
    failed, done = await world.make(), await world.make()
    await world.finish(failed, Raised("boom"))
    await world.finish(done)
    blocked = await world.make(depends_on=(failed, done))
    await world.clock.advance(2 * DAY)
    await _prune(world)
    assert await world.count("job") == 3
    assert await world.count("edge") == 2
    await world.requeue(failed)
    await world.finish(failed)
    await world.finish(blocked)
    await world.clock.advance(2 * DAY)
    await _prune(world)
    assert await world.count("job") == 0


async def test_a_kept_job_does_not_hold_the_others_up(world: World) -> None:
    """Batches are small; what must stay is not counted among them."""
    kept = [await world.make() for _ in range(3)]
    for job_id in kept:
        await world.finish(job_id)
    await world.make(depends_on=tuple(kept), delay_us=10**15)
    await world.clock.advance(1)
    for job_id in [await world.make() for _ in range(3)]:
        await world.finish(job_id)
    await world.clock.advance(2 * DAY)
    await _prune(world, limit=1)
    assert await world.count("job") == 4


async def test_prune_respects_its_limit(world: World) -> None:
    for job_id in [await world.make() for _ in range(5)]:
        await world.finish(job_id)
    await world.clock.advance(2 * DAY)
    await world.store.prune(DAY_US, 2)
    assert await world.count("job") == 3


async def test_events_go_only_when_they_have_been_numbered(world: World) -> None:
    await world.make()
    numbered = await world.events()
    await world.script(
        'INSERT INTO hanbeon.event_batch (at, count, body) VALUES (0, 1, \'[{"type":"x","at":0,"queue":"q"}]\')'
    )
    await world.store.fold()
    await world.clock.advance(2 * DAY)
    await world.store.prune(DAY_US, 1000)
    assert await world.count("event_batch") == 1
    await world.store.number_events()
    (late,) = await world.store.read(lambda tx: events_after(tx, 0))
    assert (late.id, late.type) == (numbered[-1].id + 1, "x")


async def test_a_reader_goes_on_over_what_was_pruned(world: World) -> None:
    await world.make()
    seen = (await world.events())[-1].id
    pruned = await world.make()
    await world.clock.advance(2)
    last = await world.make()
    await world.events()
    await world.script("DELETE FROM hanbeon.event_batch WHERE first_id = 2")
    for after in (0, seen, seen + 1):
        (*_, event) = await world.store.read(partial(events_after, after=after, batches=2))
        assert event.job_id == last
    (event,) = await world.store.read(lambda tx: events_after(tx, seen, batches=1))
    assert (event.job_id, event.id) == (last, 3)
    assert pruned != last


async def test_instances_that_have_not_shown_themselves_go(world: World) -> None:
    await world.store.write(lambda tx: register(tx, NEW))
    await world.clock.advance(DAY)
    living = await world.store.write(lambda tx: register(tx, NEW))
    await world.clock.advance(1)
    await _prune(world)
    assert [instance.id for instance in await world.store.read(lambda tx: instances(tx, DAY_US))] == [living]


async def test_requeue_rejects_jobs_with_a_pruned_failed_dependency(world: World) -> None:
    failed = await world.make()
    then = new_job(depends_on=(failed,), on_dependency_failure=OnDependencyFailure.FAIL)
    await world.enqueue(then)
    await world.finish(failed, Raised("boom"))
    await world.clock.advance(DAY / 2)
    await world.requeue(then.id)
    await world.store.cancel(then.id)
    await world.clock.advance(DAY / 2 + 1)
    await _prune(world)
    with pytest.raises(Conflict, match="pruned"):
        await world.requeue(then.id)
    assert await world.state(then.id) is State.CANCELLED


async def test_requeue_accepts_jobs_with_a_pruned_success(world: World) -> None:
    done = await world.make()
    then = await world.make(depends_on=(done,))
    await world.finish(done)
    await world.clock.advance(DAY / 2)
    await world.finish(then, Raised("boom"))
    await world.clock.advance(DAY / 2 + 1)
    await _prune(world)
    with pytest.raises(JobNotFound):
        await world.job(done)
    assert await world.requeue(then) is State.READY


async def test_count_prunable_matches_prune(world: World) -> None:
    done, needed = await world.make(), await world.make()
    await world.finish(done)
    await world.finish(needed, Raised("boom"))
    await world.make(depends_on=(needed,))
    events = len(await world.events())
    await world.clock.advance(DAY)
    nothing = dict.fromkeys(await world.count_prunable(DAY_US), 0)
    of_surfaces = {aged.kind for each in world.store.retention or () for aged in each.aged if aged.count is not None}
    assert nothing.keys() == {"jobs", "events", "instances", "queues"} | of_surfaces
    assert await world.count_prunable(DAY_US) == nothing
    await world.clock.advance(0.001)
    counted = await world.count_prunable(DAY_US)
    assert (counted["jobs"], counted["events"]) == (1, events)
    await _prune(world)
    assert await world.count_prunable(DAY_US) == nothing
    assert await world.count("job") == 2


async def test_stored_responses_go_a_day_after_their_request(world: World) -> None:
    """However old the rest may be, and although no request with a key comes any more."""
    for number in range(3):
        request = IdempotentRequest("ada", f"key-{number}", "digest", "seed", "server", True)
        await world.store.write(lambda tx, request=request: begin_request(tx, request, KEPT_US, 0))  # type: ignore[misc]
    assert KEPT_US == DAY_US
    await world.clock.advance(DAY)
    await world.store.prune(30 * DAY_US, 2)
    assert await world.count("answer") == 3
    await world.clock.advance(1)
    await world.store.prune(30 * DAY_US, 2)
    assert await world.count("answer") == 1
    await world.store.prune(30 * DAY_US, 2)
    assert await world.count("answer") == 0


async def _retain(world: World) -> Retained:
    await world.fold()
    return await world.store.write(
        lambda tx: retain(tx, world.store.lanes, world.store.retention, 30 * DAY_US, 3_600_000_000, 1000)
    )


async def test_clock_a_month_ahead_deletes_nothing_that_is_young(world: World) -> None:
    young = await world.make()
    await world.finish(young)
    assert await _retain(world) == Retained(0, 0)
    await world.clock.step(365 * DAY)
    for hour in range(23):
        assert (await _retain(world)).lag_us == 362 * DAY_US + hour * 3_600_000_000
        await world.clock.advance(3_600)
    await world.clock.step(-365 * DAY)
    assert (await _retain(world)).lag_us == 0, "set right again"
    assert await world.state(young) is State.SUCCEEDED


async def test_clock_that_goes_on_for_a_day_is_believed(world: World) -> None:
    """As after a long absence of all instances: retention is late by a day, and that is all."""
    old = await world.make()
    await world.finish(old)
    await _retain(world)
    await world.clock.step(365 * DAY)
    lags = []
    for _ in range(25):
        lags.append((await _retain(world)).lag_us)
        await world.clock.advance(3_600)
    assert lags == [362 * DAY_US + hour * 3_600_000_000 for hour in range(24)] + [0]
    with pytest.raises(JobNotFound, match="pruned"):
        await world.job(old)
