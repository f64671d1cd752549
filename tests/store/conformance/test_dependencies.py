"""Jobs that wait for jobs."""

from typing import Any

import pytest

from hanbeon.domain.job import OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import UnknownDependency
from hanbeon.store.operations import queries
from hanbeon.store.operations.complete import CompletionReport, complete
from hanbeon.store.operations.promote import next_due_us
from tests.store.world import World, changed, new_job

PENDING, READY, SUCCEEDED = State.PENDING, State.READY, State.SUCCEEDED
FAILED, CANCELLED = State.FAILED, State.CANCELLED
FAIL = OnDependencyFailure.FAIL


async def test_a_diamond_runs_from_top_to_bottom(world: World) -> None:
    top = new_job()
    left, right = new_job(depends_on=(top.id,)), new_job(depends_on=(top.id,))
    bottom = new_job(depends_on=(left.id, right.id, left.id))
    # Written in reverse, so that every job stands before what it waits for.
    made = await world.enqueue(bottom, right, left, top)
    assert [each.state for each in made] == [PENDING, PENDING, PENDING, READY]
    assert (await world.job(bottom.id)).unmet == 2
    await world.finish(top.id)
    assert await world.states([left.id, right.id, bottom.id]) == [READY, READY, PENDING]
    await world.finish(right.id)
    assert (await world.job(bottom.id)).unmet == 1
    await world.finish(left.id)
    await world.finish(bottom.id)
    assert await world.reasons(bottom.id) == ["scheduled", "promoted", "claimed", "succeeded"]
    assert [
        (dep.id, dep.state) for dep in await world.store.read(lambda tx: queries.dependencies_of(tx, bottom.id))
    ] == [
        (right.id, SUCCEEDED),
        (left.id, SUCCEEDED),
    ]


async def test_batch_completion_frees_dependents_of_both(world: World) -> None:
    halves = [new_job() for _ in range(5)]
    whole = new_job(depends_on=tuple(job.id for job in halves))
    await world.enqueue(*halves, whole)
    held = await world.claim(10)
    await world.store.complete([CompletionReport(job.seq, job.fence, Returned()) for job in held])
    assert await world.state(whole.id) is READY
    assert (await world.reasons(whole.id)).count("promoted") == 1


async def test_a_dependency_of_an_earlier_batch_counts_by_its_state(world: World) -> None:
    done, waiting = await world.make(), await world.make(delay_us=10**9)
    await world.finish(done)
    after_done, after_both = new_job(depends_on=(done,)), new_job(depends_on=(done, waiting))
    made = await world.enqueue(after_done, after_both)
    assert [each.state for each in made] == [READY, PENDING]
    assert (await world.job(after_both.id)).unmet == 1
    assert await world.reasons(after_done.id) == ["enqueued"]


async def test_a_delay_still_counts_when_the_dependencies_are_done(world: World) -> None:
    first = await world.make()
    then = await world.make(depends_on=(first,), delay_us=60_000_000)
    await world.finish(first)
    assert await world.state(then) is PENDING
    assert await world.store.read(next_due_us) == 60_000_000
    await world.clock.advance(60)
    assert await world.promote(10) == 1
    assert await world.state(then) is READY


@pytest.mark.parametrize("end", [FAILED, CANCELLED])
async def test_blocked_job_runs_after_its_dependency_is_retried(world: World, end: State) -> None:
    first = await world.make()
    then = await world.make(depends_on=(first,))
    if end is FAILED:
        await world.finish(first, Raised("boom"))
    else:
        await world.store.cancel(first)
    late = await world.make(depends_on=(first,))
    assert await world.states([then, late]) == [PENDING, PENDING]
    assert await world.store.read(next_due_us) is None
    assert [(dep.id, dep.state) for dep in await world.store.read(lambda tx: queries.dependencies_of(tx, then))] == [
        (first, end)
    ]
    assert await world.requeue(first) is READY
    await world.finish(first)
    assert await world.states([then, late]) == [READY, READY]
    assert (await world.job(then)).unmet == 0


async def test_a_retried_attempt_blocks_and_fails_nobody(world: World) -> None:
    first = await world.make(policy=RetryPolicy(max_retries=1, base_us=0))
    then = await world.make(depends_on=(first,), on_dependency_failure=FAIL)
    await world.finish(first, Raised("boom"))
    assert await world.states([first, then]) == [READY, PENDING]
    await world.finish(first, Raised("boom"))
    assert await world.states([first, then]) == [FAILED, FAILED]


async def _chain(world: World, *policies: OnDependencyFailure, **given: Any) -> list[str]:
    ids = [await world.make(**given)]
    for policy in policies:
        ids.append(await world.make(depends_on=(ids[-1],), on_dependency_failure=policy))
    return ids


@pytest.mark.parametrize("how", ["failed", "cancelled", "stopped", "replaced"])
async def test_the_fail_policy_takes_everything_behind_it_along(world: World, how: str) -> None:
    first, failing, behind, further = await _chain(world, FAIL, OnDependencyFailure.BLOCK, FAIL, unique_key="key")
    blocked = await world.make(depends_on=(first,))
    behind_blocked = await world.make(depends_on=(blocked,), on_dependency_failure=FAIL)
    if how == "failed":
        await world.finish(first, Raised("boom"))
    elif how == "cancelled":
        await world.store.cancel(first)
    elif how == "stopped":
        held = await world.claim_this(first)
        await world.store.cancel(first)
        assert await world.state(failing) is PENDING
        await world.settle(held)
    else:
        await world.make(unique_key="key", on_conflict=OnConflict.REPLACE_PENDING)
    assert await world.states([failing, behind, further]) == [FAILED] * 3
    assert await world.states([blocked, behind_blocked]) == [PENDING] * 2
    for job_id in (failing, behind, further):
        job = await world.job(job_id)
        assert job.failure_type == "dependency_failed"
        assert job.finished_at == world.clock.now_us()
        assert (await world.events(job_id))[-1].details["failure_type"] == "dependency_failed"


@pytest.mark.parametrize("end", [FAILED, CANCELLED])
async def test_enqueue_fails_a_job_with_a_failed_dependency(world: World, end: State) -> None:
    first = await world.make()
    if end is FAILED:
        await world.finish(first, Raised("boom"))
    else:
        await world.store.cancel(first)
    failing = new_job(depends_on=(first,), on_dependency_failure=FAIL)
    behind = new_job(depends_on=(failing.id,))
    blocked = new_job(depends_on=(first,))
    made = await world.enqueue(behind, failing, blocked)
    assert [(each.state, each.created) for each in made] == [(FAILED, True), (FAILED, True), (PENDING, True)]
    assert await world.reasons(failing.id) == ["scheduled", "dependency_failed"]
    assert await world.states([behind.id, failing.id, blocked.id]) == [FAILED, FAILED, PENDING]


async def test_job_failed_by_dependency_can_be_requeued(world: World) -> None:
    first, failing = await _chain(world, FAIL)
    await world.finish(first, Raised("boom"))
    assert await world.requeue(failing) is PENDING
    assert await world.requeue(first) is READY
    await world.finish(first)
    await world.finish(failing)
    assert await world.states([first, failing]) == [SUCCEEDED, SUCCEEDED]


async def test_success_counts_for_dependents_in_any_state(world: World) -> None:
    """A job cancelled meanwhile knows, when it is requeued, that its dependency is done."""
    first, then = await _chain(world, OnDependencyFailure.BLOCK)
    await world.store.cancel(then)
    await world.finish(first)
    assert await world.state(then) is CANCELLED
    assert await world.requeue(then) is READY


async def test_a_batch_may_name_jobs_that_it_made_before(world: World) -> None:
    """An earlier job of the same id stands for the one asked for, whatever has become of it."""
    done, failed, waiting = new_job(), new_job(), new_job(delay_us=10**9)
    await world.enqueue(done, failed, waiting)
    await world.finish(done.id)
    await world.finish(failed.id, Raised("boom"))
    after_done = new_job(depends_on=(done.id,))
    after_waiting = new_job(depends_on=(done.id, waiting.id, after_done.id))
    after_failed = new_job(depends_on=(failed.id,), on_dependency_failure=FAIL)
    delayed = new_job(depends_on=(done.id,), delay_us=60_000_000)
    made = await world.enqueue(done, failed, waiting, after_done, after_waiting, after_failed, delayed)
    assert [each.created for each in made] == [False, False, False, True, True, True, True]
    assert [each.state for each in made] == [SUCCEEDED, FAILED, PENDING, READY, PENDING, FAILED, PENDING]
    assert await world.states([each.id for each in made]) == [each.state for each in made]
    assert [(await world.job(job.id)).unmet for job in (after_done, after_waiting, after_failed, delayed)] == [
        0,
        2,
        1,
        0,
    ]
    await world.finish(after_done.id)
    assert (await world.job(after_waiting.id)).unmet == 1
    await world.clock.advance(60)
    assert await world.promote(10) == 1
    assert await world.state(delayed.id) is READY


async def test_skipped_dependency_resolves_to_the_key_holder(world: World) -> None:
    holder = await world.make(unique_key="key")
    skipped = new_job(unique_key="key", on_conflict=OnConflict.SKIP, args="[1]")
    then = new_job(depends_on=(skipped.id,))
    made = await world.enqueue(skipped, then)
    assert [(each.id, each.created) for each in made] == [(holder, False), (then.id, True)]
    await world.finish(holder)
    assert await world.state(then.id) is READY
    foreign = new_job(queue="other", depends_on=(skipped.id,))
    again = changed(skipped, queue="other")
    await world.make(unique_key="key")
    rows = await world.rows()
    with pytest.raises(UnknownDependency, match="another queue"):
        await world.enqueue(again, foreign)
    assert await world.rows() == rows


async def test_replacing_a_dependency_fails_or_blocks(world: World) -> None:
    for policy, state in ((FAIL, FAILED), (OnDependencyFailure.BLOCK, PENDING)):
        await world.empty()
        holder = await world.make(unique_key="key")
        heir = new_job(
            unique_key="key",
            on_conflict=OnConflict.REPLACE_PENDING,
            depends_on=(holder,),
            on_dependency_failure=policy,
        )
        (made,) = await world.enqueue(heir)
        assert made.state is state
        assert await world.states([holder, heir.id]) == [CANCELLED, state]


async def test_a_long_chain_and_a_wide_fan_in_one_batch(world: World) -> None:
    chain = [new_job()]
    for _ in range(300):
        chain.append(new_job(depends_on=(chain[-1].id,), on_dependency_failure=FAIL))
    fan = [new_job(depends_on=(chain[0].id,)) for _ in range(300)]
    await world.enqueue(*reversed(chain), *fan)
    await world.finish(chain[0].id)
    assert set(await world.states([job.id for job in fan])) == {READY}
    await world.store.cancel(chain[1].id)
    assert set(await world.states([job.id for job in chain[2:]])) == {FAILED}


async def test_promoters_are_woken_for_jobs_freed_before_run_at(world: World) -> None:
    first = await world.make()
    await world.make(depends_on=(first,), delay_us=60_000_000)
    held = await world.claim_this(first)
    report = CompletionReport(held.seq, held.fence, Returned(), instance=held.instance)
    _, after = await world.store.database.transact(lambda tx: complete(tx, world.store.lanes, [report]))
    assert "later" in after.hints


async def test_a_job_that_is_skipped_fails_nobody_behind_what_it_names(world: World) -> None:
    """One that was retried by hand waits for its cancelled dependency; a duplicate of another job is no news to it."""
    holder = await world.make(unique_key="key")
    first = await world.make()
    await world.store.cancel(first)
    then = await world.make(depends_on=(first,), on_dependency_failure=FAIL)
    await world.requeue(then)
    skipped = new_job(unique_key="key", on_conflict=OnConflict.SKIP, depends_on=(first,))
    answers = await world.store.enqueue([skipped, new_job()])
    assert [each.created for each in answers] == [False, True]
    assert answers[0].id == holder
    assert (await world.store.job(then)).state is State.PENDING
