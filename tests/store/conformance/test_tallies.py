"""The numbers of queues are those of a recount after every kind of move, folded or not."""

from typing import Any

import pytest

from hanbeon.clock import MICROS
from hanbeon.domain.job import OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import LIFECYCLE, Reason, State
from hanbeon.domain.outcome import HandedBack, PutOff, Raised, Returned, TimedOut
from hanbeon.domain.retry import RetryPolicy
from hanbeon.domain.tally import COARSE_SLOT_US, SLOT_US
from hanbeon.errors import NotFound
from hanbeon.store.operations import tallies
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.expire import expire
from hanbeon.store.operations.prune import TIMINGS_KEPT_US
from hanbeon.store.operations.tallies import counts
from tests.store.stream_words import send
from tests.store.world import LEASE, World, lease_of, new_job

HOUR_US = 3600 * MICROS
DAY = 86_400.0
DAY_US = 86_400 * MICROS
AGAIN = RetryPolicy(max_retries=5, base_us=0)


class Checked:
    """Does a thing and compares; folds before each, after each, or never."""

    def __init__(self, world: World, folding: str) -> None:
        self.world, self._folding = world, folding

    async def __call__(self, thing: Any) -> Any:
        if self._folding == "before":
            await self.world.fold()
        answer = await thing
        await self.world.check_tallies()
        if self._folding == "after":
            await self.world.fold()
            await self.world.check_tallies()
        return answer


@pytest.mark.parametrize("folding", ["never", "before", "after"])
async def test_after_every_move_the_numbers_are_those_of_a_recount(world: World, folding: str) -> None:
    check = Checked(world, folding)
    store = world.store

    async def claim(job_id: str) -> Any:
        held = (await world.claim(1))[0]
        assert held.id == job_id
        return held

    streamed = await check(world.make())
    await check(send(world))
    await check(store.cancel(streamed))

    plain = await check(world.make())
    delayed = await check(world.make(delay_us=5 * MICROS, queue="other"))
    await world.clock.advance(5)
    await check(world.promote(10))
    held = await check(claim(plain))
    await world.clock.advance(2)
    await check(world.settle(held))  # The quick way, where there is one.
    held = await check(claim(delayed))
    await check(store.complete([CompletionReport(held.seq, held.fence, Returned())]))

    many = await check(world.make(policy=AGAIN, priority=-1))
    for outcome in (Raised("again"), TimedOut(), HandedBack(), PutOff(0)):
        held = await check(claim(many))
        await check(world.note_overdue(lease_of(held)))
        await world.clock.advance(1)
        await check(world.settle(held, outcome))
    await check(claim(many))
    await world.clock.advance(LEASE + 1)
    await check(world.recover(10))  # Lost, and tried again.
    held = await check(claim(many))
    await check(world.settle(held, Raised("no more", permanent=True)))
    await check(world.requeue(many))
    held = await check(claim(many))
    await check(world.reprioritise(many, 3, True))
    await check(store.cancel(many))
    await check(world.settle(held))  # Stopped.
    await check(world.requeue(many))
    await check(store.cancel(many))  # Ready.
    waiting = await check(world.make(delay_us=HOUR_US))
    await check(store.cancel(waiting))  # Pending.
    await check(world.mark_done(waiting))  # It never ran.
    await check(world.mark_done(many))

    first = await check(world.make(unique_key="k"))
    again = new_job(unique_key="k", on_conflict=OnConflict.REPLACE_PENDING)
    await check(world.enqueue(again))
    assert await world.state(first) is State.CANCELLED
    behind = new_job(depends_on=(again.id,), on_dependency_failure=OnDependencyFailure.FAIL)
    last = new_job(depends_on=(behind.id,))
    await check(world.enqueue(behind, last))
    held = await check(claim(again.id))
    await check(world.settle(held, Raised("boom")))
    assert await world.states([behind.id, last.id]) == [State.FAILED, State.FAILED]
    done = await check(world.make())
    freed = await check(world.make(depends_on=(done,)))
    await check(world.finish(done))
    assert await world.state(freed) is State.READY
    await check(
        store.complete_with_children(
            CompletionReport(*lease_of(await check(claim(freed)))[:2], Returned()), [new_job()]
        )
    )
    await check(world.make(expires_us=1, delay_us=HOUR_US))
    await check(world.make(expires_us=1))
    await world.clock.advance(1)
    await check(store.write(lambda tx: expire(tx, store.lanes, 10)))
    await check(store.change_queue("default", {"max_concurrent": 3}, paused=True))

    types = {event.type for event in await world.events()}
    assert types >= set(LIFECYCLE), set(Reason) - types

    await world.clock.advance(2 * DAY)
    before = sum((await store.read(lambda tx: counts(tx, None, store.unfolded))).values())
    while await check(store.prune(DAY_US, 2)):
        pass
    assert sum((await store.read(lambda tx: counts(tx, None, store.unfolded))).values()) == 1 < before
    assert (await store.read(lambda tx: counts(tx, "other", store.unfolded)))[State.SUCCEEDED] == 0


async def test_counts_are_of_one_queue_or_of_all(world: World) -> None:
    await world.make(queue="a")
    await world.fold()
    await world.make(queue="a", delay_us=MICROS)
    await world.make(queue="b")
    assert await world.counts("a") == {state: int(state in ("ready", "pending")) for state in State}
    assert (await world.counts())[State.READY] == 2
    with pytest.raises(NotFound, match="there is no queue 'c'"):
        await world.counts("c")
    with pytest.raises(NotFound, match="there is no queue 'c'"):
        await world.statistics("c", HOUR_US)


async def test_a_queue_without_jobs_has_zeros(world: World) -> None:
    await world.store.change_queue("empty", {"max_concurrent": 1})
    assert set((await world.counts("empty")).values()) == {0}
    found = (await world.statistics("empty", HOUR_US))["empty"]
    assert (found.succeeded, found.throughput, found.wait, found.run) == (0, 0, None, None)
    assert (found.oldest_ready, found.mean_run) == (None, None)


async def test_a_batch_is_folded_once_and_in_order(world: World) -> None:
    for _ in range(5):
        await world.make()
    while await world.store.number_events():
        pass
    folded = []
    while batches := await world.store.fold(limit=2):
        folded.append(batches)
        await world.check_tallies()
    assert folded == [2, 2, 1]
    assert (await world.sql("SELECT jobs FROM hanbeon.tally"))[0][0] == 5
    assert await world.store.fold() == 0
    await world.check_tallies()


async def test_success_and_prune_in_one_fold_change_run_time(world: World) -> None:
    for seconds in (5, 7):
        await world.make()
        (held,) = await world.claim(1)
        await world.clock.advance(seconds)
        await world.fold()
        await world.settle(held)
        if seconds == 5:
            await world.fold()
            await world.clock.advance(2 * DAY)
    assert await world.store.prune(DAY_US, 10) > 0
    await world.check_tallies()
    await world.fold()
    await world.check_tallies()
    assert (await world.statistics(None, HOUR_US))["default"].mean_run == 7


async def test_unnumbered_events_are_counted_but_not_folded(postgres_world: World) -> None:
    world = postgres_world
    await world.make()
    assert await world.store.fold() == 0
    assert (await world.counts())[State.READY] == 1
    await world.fold()
    assert (await world.counts())[State.READY] == 1


async def test_events_that_are_not_folded_are_never_pruned(world: World) -> None:
    await world.make()
    while await world.store.number_events():
        pass
    await world.clock.advance(2 * DAY)
    assert await world.store.prune(DAY_US, 100) == 0
    await world.check_tallies()
    await world.store.fold()
    assert await world.store.prune(DAY_US, 100) == 1
    await world.check_tallies()


async def test_instances_together_fold_no_oftener_than_one(world: World) -> None:
    await world.make()
    await world.fold()
    await world.make()
    await world.store.number_events()
    assert await world.store.fold(rest_us=MICROS) == 0
    await world.clock.advance(1)
    assert await world.store.fold(rest_us=MICROS) == 1


async def test_readers_trigger_a_fold_of_a_large_backlog(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.transactions._UNFOLDED_LIMIT", 2)
    for _ in range(3):
        await world.make()
    assert (await world.counts())[State.READY] == 3
    assert world.store._folding is not None
    await world.store._folding
    assert (await world.sql("SELECT sum(jobs) FROM hanbeon.tally"))[0][0] == 3
    assert (await world.counts())[State.READY] == 3


# Statistics


async def test_statistics_tell_what_happened(world: World) -> None:
    job = await world.make(policy=AGAIN)
    for wait, run, outcome in ((1, 2, Raised("x")), (3, 4, TimedOut()), (5, 6, Returned())):
        await world.clock.advance(wait)
        held = await world.claim_this(job)
        await world.clock.advance(run)
        await world.settle(held, outcome)
    failing = await world.make()
    await world.finish(failing, Raised("boom"))
    await world.store.cancel(await world.make())
    for _ in range(2):
        found = (await world.statistics("default", HOUR_US))["default"]
        assert (found.enqueued, found.started, found.succeeded, found.failed) == (3, 4, 1, 1)
        assert (found.cancelled, found.retried, found.timed_out) == (1, 2, 1)
        assert HOUR_US <= found.seconds * MICROS < HOUR_US + SLOT_US
        assert found.throughput == 1 / found.seconds
        assert found.mean_run == 6
        assert found.wait is not None
        assert found.run is not None
        assert found.wait.count == found.run.count == 4
        assert [found.wait.p50, found.wait.p99] == pytest.approx([1, 5], 1 / 32)
        assert [found.run.p50, found.run.p99] == pytest.approx([2, 6], 1 / 32)
        assert 6 <= found.run.max <= 6 * 17 / 16
        assert found.states == await world.counts("default")
        await world.fold()


async def test_minutes_of_a_day_ago_are_joined(world: World) -> None:
    """Nothing is lost, and joining them again changes nothing."""
    for _ in range(12):
        await world.finish(await world.make())
        await world.clock.advance(60)
    await world.fold()
    before = (await world.statistics("default", 7 * 24 * HOUR_US))["default"]
    await world.clock.advance(24 * 3_600 + 300)
    assert await world.store.write(lambda tx: tallies.coarsen(tx, 5)) == 5
    while await world.store.write(lambda tx: tallies.coarsen(tx, 5)):
        pass
    slots = [row[0] for row in await world.sql("SELECT slot FROM hanbeon.timing ORDER BY slot")]
    assert len(slots) <= 4
    assert all(slot % COARSE_SLOT_US == 0 for slot in slots)
    after = (await world.statistics("default", 7 * 24 * HOUR_US - HOUR_US))["default"]
    assert (after.succeeded, after.started, after.run) == (before.succeeded, before.started, before.run)


async def test_a_window_forgets_and_a_tally_does_not(world: World) -> None:
    """Equal results with all batches folded and with none."""
    await world.finish(await world.make())
    await world.clock.advance(1800)
    await world.finish(await world.make())
    for _ in range(2):
        seen = [(await world.statistics(None, minutes * 60 * MICROS))["default"].succeeded for minutes in (10, 45)]
        assert seen == [1, 2]
        await world.fold()
    assert (await world.counts())[State.SUCCEEDED] == 2


async def test_a_slot_adds_up_over_many_foldings(world: World) -> None:
    for n in range(1, 6):
        await world.finish(await world.make())
        await world.fold()
        assert (await world.statistics(None, 1))["default"].succeeded == n
    assert await world.count("timing") == 1


async def test_timings_go_after_a_week_and_tallies_stay(world: World) -> None:
    await world.finish(await world.make())
    await world.fold()
    await world.clock.advance(TIMINGS_KEPT_US / MICROS - 300)
    await world.store.prune(365 * DAY_US, 10)
    assert await world.count("timing") == 1
    await world.clock.advance(601)
    assert await world.store.prune(365 * DAY_US, 10) == 1
    assert await world.count("timing") == 0
    assert (await world.counts())[State.SUCCEEDED] == 1


async def test_the_oldest_ready_is_found_behind_a_crowd_of_newer_ones(world: World) -> None:
    await world.make(priority=5, concurrency_key="k")
    await world.clock.advance(60)
    await world.enqueue(*[new_job(concurrency_key="k", priority=n) for n in range(5)])
    await world.enqueue(*[new_job(urgent=True) for _ in range(5)])
    await world.clock.advance(10)
    assert (await world.statistics("default", HOUR_US))["default"].oldest_ready == 70
    assert len(await world.claim(11)) == 11
    assert (await world.statistics("default", HOUR_US))["default"].oldest_ready is None


async def test_the_oldest_ready_waits_since_it_could_run(world: World) -> None:
    first = await world.make()
    await world.make(depends_on=(first,))
    await world.clock.advance(100)
    await world.finish(first)
    await world.clock.advance(7)
    assert (await world.statistics(None, HOUR_US))["default"].oldest_ready == 7
