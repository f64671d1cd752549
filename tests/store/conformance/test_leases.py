"""One runner at a time: leases, fences, what expires, what is asked to stop."""

import itertools
from functools import partial

import msgspec
import pytest

from hanbeon.domain.lifecycle import AttemptStatus, State
from hanbeon.domain.outcome import TIMEOUT_MESSAGE, HandedBack, Outcome, PutOff, Raised, Returned, TimedOut
from hanbeon.domain.retry import OnLost, RetryPolicy
from hanbeon.store.operations import lease as lease_rows
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.lease import Lease, renew
from hanbeon.store.operations.promote import next_due_us
from hanbeon.store.operations.queries import attempts_of
from tests.store.world import LEASE, LEASE_US, World, lease_of, new_job

RETRYING = RetryPolicy(max_retries=3, base_us=0)


async def test_a_stale_fence_writes_nothing(world: World) -> None:
    job_id = await world.make(policy=RETRYING)
    stale = await world.claim_this(job_id)
    await world.settle(stale, HandedBack())
    live = await world.claim_this(job_id)
    assert (stale.fence, live.fence) == (1, 2)
    before, rows = await world.job(job_id), await world.rows()
    await world.clock.advance(1)
    for fence in (stale.fence, live.fence + 1, 0):
        lease = Lease(live.seq, fence)
        for instance in (None, live.instance):
            assert (
                await world.store.complete(
                    [CompletionReport(lease.seq, lease.fence, Returned("stale"), instance=instance)]
                )
                == []
            )
        facts = await world.store.write(partial(renew, leases=[lease], lease_us=LEASE_US))
        assert (facts.renewed, facts.lost, facts.stop) == (set(), {live.seq}, set())
        assert await world.store.write_progress(lease, "0.5") is False
        assert await world.note_overdue(lease) is False
        assert (await world.store.read(partial(lease_rows.look, leases=[lease]))).lost == {live.seq}
    assert await world.job(job_id) == before
    assert await world.rows() == rows
    assert await world.settle(live, Returned("2")) is not None
    assert (await world.job(job_id)).result == "2"


async def test_an_expired_lease_writes_nothing_even_before_recovery(world: World) -> None:
    job_id = await world.make()
    held = await world.claim_this(job_id)
    lease = lease_of(held)
    await world.clock.advance(LEASE - 0.000001)
    assert (await world.store.read(partial(lease_rows.look, leases=[lease]))).lost == set()
    await world.clock.advance(0.000001)
    before, rows = await world.job(job_id), await world.rows()
    assert await world.settle(held) is None
    facts = await world.store.write(lambda tx: renew(tx, [lease], LEASE_US))
    assert (facts.renewed, facts.lost) == (set(), {held.seq})
    assert await world.store.write_progress(lease, "0.5") is False
    assert await world.note_overdue(lease) is False
    assert await world.job(job_id) == before
    assert await world.rows() == rows


async def test_renewing_extends_what_is_held_and_says_what_is_not(world: World) -> None:
    held = [await world.claim_this(await world.make()) for _ in range(4)]
    await world.settle(held[1])
    await world.store.cancel(held[2].id)
    await world.clock.advance(20)
    unknown = Lease(max(job.seq for job in held) + 1000, 1)
    facts = await world.store.write(lambda tx: renew(tx, [*map(lease_of, held), unknown], LEASE_US))
    assert facts.renewed == {held[0].seq, held[2].seq, held[3].seq}
    assert facts.lost == {held[1].seq, unknown.seq}
    assert facts.stop == {held[2].seq}
    await world.clock.advance(20)
    assert await world.recover(10) == []
    assert (await world.job(held[0].id)).locked_until == world.clock.now_us() + LEASE_US - 20_000_000
    looked = await world.store.read(lambda tx: lease_rows.look(tx, [*map(lease_of, held)]))
    assert (looked.renewed, looked.lost, looked.stop) == (set(), {held[1].seq}, {held[2].seq})


async def test_reports_of_an_old_and_a_new_attempt_may_travel_together(world: World) -> None:
    """Whatever their order, only the live lease's report counts, and only once."""
    for order, short in itertools.product((1, -1), (True, False)):
        job_id = await world.make(policy=RETRYING)
        stale = await world.claim_this(job_id)
        await world.settle(stale, HandedBack())
        live = await world.claim_this(job_id)
        reports = [
            CompletionReport(stale.seq, stale.fence, Raised("stale")),
            CompletionReport(live.seq, live.fence, Returned("live")),
        ]
        reports = [msgspec.structs.replace(report, instance=live.instance if short else None) for report in reports]
        settled = await world.store.complete(
            [*reports[::order], CompletionReport(live.seq, live.fence, Raised("double"))]
        )
        assert [(each.fence, each.state) for each in settled] == [(live.fence, State.SUCCEEDED)]
        assert (await world.job(job_id)).result == "live"


async def test_a_batch_of_reports_is_applied_each_by_its_own_lease(world: World) -> None:
    ids = [await world.make(policy=RetryPolicy(max_retries=n % 2)) for n in range(6)]
    held = await world.claim(10)
    outcomes: list[Outcome] = [
        Returned("1"),
        Raised("boom"),
        Raised("boom"),
        TimedOut(),
        HandedBack(),
        PutOff(1_000_000),
    ]
    reports = [CompletionReport(job.seq, job.fence, outcome) for job, outcome in zip(held, outcomes, strict=True)]
    reports[0] = CompletionReport(held[0].seq, 99, Returned("1"))
    settled = await world.store.complete(reports)
    assert {each.seq for each in settled} == {job.seq for job in held[1:]}
    assert await world.states(ids) == [
        State.RUNNING,
        State.PENDING,
        State.FAILED,
        State.PENDING,
        State.READY,
        State.PENDING,
    ]


async def test_progress_needs_the_lease_and_lasts_until_requeue(world: World) -> None:
    job_id = await world.make(policy=RETRYING)
    held = await world.claim_this(job_id)
    assert await world.store.write_progress(lease_of(held), '{"done":1}') is True
    await world.settle(held, Raised("boom"))
    again = await world.claim_this(job_id)
    assert again.progress == '{"done":1}'
    await world.settle(again, Raised("boom", permanent=True))
    await world.requeue(job_id)
    assert (await world.job(job_id)).progress is None


async def _lose(world: World, job_id: str) -> State:
    await world.claim_this(job_id)
    await world.clock.advance(LEASE)
    (recovered,) = await world.recover(10)
    return recovered.state


async def test_first_lost_attempt_is_retried_at_once(world: World) -> None:
    job_id = await world.make(policy=RetryPolicy(max_retries=1, base_us=60_000_000))
    held = await world.claim_this(job_id)
    assert await world.recover(10) == []
    await world.clock.advance(LEASE)
    (recovered,) = await world.recover(10)
    assert (recovered.seq, recovered.fence, recovered.state) == (held.seq, held.fence, State.PENDING)
    assert recovered.retry_count == 0
    job = await world.job(job_id)
    assert job.state is State.READY, "it need not be promoted"
    assert (job.retry_count, job.run_at, job.failure_type) == (0, world.clock.now_us(), "lost")
    (attempt,) = await world.store.read(lambda tx: attempts_of(tx, job_id))
    assert (attempt.attempt, attempt.status, attempt.instance) == (1, AttemptStatus.LOST, 7)
    assert (attempt.started_at, attempt.ended_at) == (held.started_at, world.clock.now_us())
    assert await world.settle(held) is None
    assert await _lose(world, job_id) is State.PENDING
    job = await world.job(job_id)
    assert (job.state, job.retry_count, job.run_at) == (State.PENDING, 1, world.clock.now_us() + 60_000_000)
    await world.clock.advance(60)
    await world.promote(10)
    assert await _lose(world, job_id) is State.FAILED
    await world.requeue(job_id)
    assert await _lose(world, job_id) is State.PENDING
    assert (await world.job(job_id)).retry_count == 0, "a manual retry starts anew"


async def test_lost_attempt_is_retried_where_no_retries_are_allowed(world: World) -> None:
    job_id = await world.make()
    assert await _lose(world, job_id) is State.PENDING
    assert await world.state(job_id) is State.READY
    assert await _lose(world, job_id) is State.FAILED


@pytest.mark.parametrize(
    "between", [Raised("boom"), PutOff(0), HandedBack()], ids=lambda outcome: type(outcome).__name__
)
async def test_lost_attempts_with_another_between_are_not_in_a_row(world: World, between: Outcome) -> None:
    job_id = await world.make(policy=RetryPolicy(max_retries=1, base_us=0))
    assert await _lose(world, job_id) is State.PENDING
    await world.finish(job_id, between)
    used = (await world.job(job_id)).retry_count
    assert await _lose(world, job_id) is State.PENDING
    job = await world.job(job_id)
    assert (job.state, job.retry_count) == (State.READY, used)


async def test_a_lost_attempt_fails_a_job_that_must_run_at_most_once(world: World) -> None:
    policy = RetryPolicy(max_retries=3, base_us=0, on_lost=OnLost.FAIL)
    job_id = await world.make(policy=policy)
    await world.finish(job_id, Raised("an error is retried all the same"))
    await world.claim_this(job_id)
    await world.clock.advance(LEASE)
    (recovered,) = await world.recover(10)
    assert recovered.state is State.FAILED
    assert (await world.job(job_id)).failure_type == "lost"


@pytest.mark.parametrize("on_lost", OnLost)
async def test_a_deadline_that_passed_while_all_was_down_is_a_timeout(world: World, on_lost: OnLost) -> None:
    policy = RetryPolicy(max_retries=3, base_us=0, on_lost=on_lost)
    job_id = await world.make(policy=policy, timeout_us=20_000_000)
    held = await world.claim_this(job_id)
    await world.clock.advance(LEASE)
    assert len(await world.recover(10)) == 1
    (attempt,) = await world.store.read(lambda tx: attempts_of(tx, job_id))
    assert (attempt.status, attempt.failure_type, attempt.message) == (
        AttemptStatus.TIMEOUT,
        "timeout",
        TIMEOUT_MESSAGE,
    )
    assert attempt.deadline_at == held.started_at + 20_000_000
    # Nobody saw the work stop, so a job that must run at most once does not run again.
    assert await world.state(job_id) is (State.READY if on_lost is OnLost.RETRY else State.FAILED)


async def test_a_deadline_that_has_not_passed_is_a_lost_attempt(world: World) -> None:
    job_id = await world.make(timeout_us=40_000_000)
    await world.claim_this(job_id)
    await world.clock.advance(LEASE)
    await world.recover(10)
    assert [attempt.status for attempt in await world.store.read(lambda tx: attempts_of(tx, job_id))] == [
        AttemptStatus.LOST
    ]


async def test_recover_takes_longest_expired_first_up_to_limit(world: World) -> None:
    ids = []
    for _ in range(3):
        ids.append(await world.make(policy=RetryPolicy(max_retries=0, on_lost=OnLost.FAIL)))
        await world.claim_this(ids[-1])
        await world.clock.advance(1)
    await world.clock.advance(LEASE)
    assert len(await world.recover(2)) == 2
    assert await world.states(ids) == [State.FAILED, State.FAILED, State.RUNNING]
    assert len(await world.recover(2)) == 1
    assert await world.recover(2) == []


@pytest.mark.parametrize("outcome", [Returned("1"), Raised("boom"), TimedOut(), HandedBack(), PutOff(0)], ids=repr)
async def test_a_requested_stop_wins_over_a_later_result(world: World, outcome: Outcome) -> None:
    job_id = await world.make(policy=RETRYING)
    held = await world.claim_this(job_id)
    assert await world.store.cancel(job_id) is State.RUNNING
    settled = await world.settle(held, outcome)
    assert settled is not None
    assert settled.state is State.CANCELLED
    job = await world.job(job_id)
    assert (job.state, job.result) == (State.CANCELLED, None)
    assert [attempt.status for attempt in await world.store.read(lambda tx: attempts_of(tx, job_id))] == [
        AttemptStatus.CANCELLED
    ]
    assert await world.reasons(job_id) == ["enqueued", "claimed", "stop_requested", "stopped"]


async def test_recover_cancels_jobs_with_a_requested_stop(world: World) -> None:
    job_id = await world.make(policy=RETRYING)
    await world.claim_this(job_id)
    await world.store.cancel(job_id)
    await world.clock.advance(LEASE)
    (recovered,) = await world.recover(10)
    assert recovered.state is State.CANCELLED


async def test_requeue_resets_retries_but_not_attempt_numbers(world: World) -> None:
    job_id = await world.make(policy=RetryPolicy(max_retries=1, base_us=0))
    await world.finish(job_id, Raised("one"))
    await world.finish(job_id, Raised("two"))
    failed = await world.job(job_id)
    assert (failed.state, failed.retry_count, failed.error_message) == (State.FAILED, 1, "two")
    assert await world.requeue(job_id) is State.READY
    again = await world.job(job_id)
    assert (again.retry_count, again.fence, again.finished_at) == (0, 2, None)
    assert (again.failure_type, again.error_message) == (None, None)
    await world.finish(job_id, Raised("three"))
    await world.finish(job_id)
    assert [attempt.attempt for attempt in await world.store.read(lambda tx: attempts_of(tx, job_id))] == [1, 2, 3, 4]
    assert await world.state(job_id) is State.SUCCEEDED


async def test_a_stopped_job_can_be_requeued_and_is_not_stopped_again(world: World) -> None:
    job_id = await world.make()
    held = await world.claim_this(job_id)
    await world.store.cancel(job_id)
    await world.settle(held)
    await world.requeue(job_id)
    await world.finish(job_id)
    assert await world.state(job_id) is State.SUCCEEDED


async def test_retries_wait_for_their_delay_only(world: World) -> None:
    job_id = await world.make(policy=RetryPolicy(max_retries=5, base_us=2_000_000))
    for retry, seconds in enumerate([2, 4, 8]):
        await world.finish(job_id, Raised("boom"))
        job = await world.job(job_id)
        assert (job.state, job.retry_count) == (State.PENDING, retry + 1)
        assert await world.store.read(next_due_us) == seconds * 1_000_000
        await world.clock.advance(seconds - 1)
        assert await world.promote(10) == 0
        await world.clock.advance(1)
        assert await world.promote(10) == 1
    at_once = await world.make(policy=RETRYING, urgent=True)
    await world.finish(at_once, Raised("boom"))
    assert await world.state(at_once) is State.READY


async def test_put_off_burns_no_retry_and_keeps_why(world: World) -> None:
    job_id = await world.make(policy=RetryPolicy(max_retries=0))
    await world.finish(job_id, PutOff(5_000_000, "the file is not there yet"))
    job = await world.job(job_id)
    assert (job.state, job.retry_count, job.error_message) == (State.PENDING, 0, "the file is not there yet")
    await world.clock.advance(5)
    await world.promote(10)
    await world.finish(job_id, PutOff(0))
    await world.finish(job_id)
    statuses = [attempt.status for attempt in await world.store.read(lambda tx: attempts_of(tx, job_id))]
    assert statuses == [AttemptStatus.RELEASED, AttemptStatus.RELEASED, AttemptStatus.COMPLETED]


async def test_odd_messages_hold_nobody_up(world: World) -> None:
    odd, fine = await world.make(), await world.make()
    held = await world.claim(10)
    reports = [
        CompletionReport(held[0].seq, held[0].fence, Raised("NUL \x00 and half a pair \udcff")),
        CompletionReport(held[1].seq, held[1].fence, Returned('"한번"')),
    ]
    assert len(await world.store.complete(reports)) == 2
    assert (await world.job(odd)).error_message == "NUL � and half a pair ?"
    assert (await world.job(fine)).result == '"한번"'
    assert (await world.events(odd))[-1].details["message"] == "NUL � and half a pair ?"


async def test_clock_set_back_prolongs_leases_but_keeps_fences(world: World) -> None:
    job = new_job(policy=RETRYING)
    await world.enqueue(job)
    held = await world.claim_this(job.id)
    await world.clock.step(-3600)
    assert await world.recover(10) == []
    assert await world.settle(held, HandedBack()) is not None
    assert (await world.claim_this(job.id)).fence == held.fence + 1
    assert await world.settle(held) is None
