"""A job that a user marks as done has succeeded for everyone who waits for it."""

import pytest

from hanbeon.domain.job import OnDependencyFailure
from hanbeon.domain.lifecycle import AttemptStatus, Reason, State
from hanbeon.domain.outcome import Raised, Returned
from hanbeon.errors import Conflict, WrongState
from hanbeon.store.operations.hand_moves import hand_moves_of
from hanbeon.store.operations.queries import attempts_of
from tests.store.world import World


async def test_dependents_of_a_job_marked_done_go_on(world: World) -> None:
    first, other = await world.make(priority=-1), await world.make(delay_us=60_000_000)
    then = await world.make(depends_on=(first,))
    both = await world.make(depends_on=(first, other))
    await world.finish(first, Raised("boom"))
    assert await world.state(then) is State.PENDING
    await world.mark_done(first, "did it myself", "42")
    assert await world.state(then) is State.READY
    assert await world.state(both) is State.PENDING
    await world.store.cancel(other)
    await world.mark_done(other)
    assert await world.state(both) is State.READY
    await world.check_tallies()


async def test_a_job_marked_done_keeps_its_failed_attempt(world: World) -> None:
    job_id = await world.make()
    await world.finish(job_id, Raised("boom"))
    await world.clock.advance(5)
    await world.mark_done(job_id, "on paper", '{"pages":2}')
    job = await world.job(job_id)
    assert (job.state, job.result, job.failure_type, job.error_message) == (State.SUCCEEDED, '{"pages":2}', None, None)
    (attempt,) = await world.store.read(lambda tx: attempts_of(tx, job_id))
    assert (attempt.status, attempt.message) == (AttemptStatus.FAILED, "boom")
    (move,) = await world.store.read(lambda tx: hand_moves_of(tx, job.seq))
    assert (move.reason, move.comment, move.at) == (Reason.MARKED_DONE, "on paper", job.finished_at)
    event = (await world.events(job_id))[-1]
    assert (event.type, event.was, event.state, event.details) == (
        "marked_done",
        State.FAILED,
        State.SUCCEEDED,
        {"comment": "on paper"},
    )


async def test_a_job_that_is_done_by_hand_is_not_done_again(world: World) -> None:
    """A request that is repeated after a lost answer changes nothing; another one is refused."""
    job_id = await world.make()
    await world.store.cancel(job_id)
    await world.mark_done(job_id, "first")
    before = await world.events(job_id)
    await world.mark_done(job_id, "first")
    assert await world.events(job_id) == before
    with pytest.raises(WrongState, match="only failed or cancelled jobs can be marked as done"):
        await world.mark_done(job_id, "second")
    with pytest.raises(Conflict):
        await world.requeue(job_id)


async def test_dependent_that_failed_with_it_runs_when_it_is_retried(world: World) -> None:
    first = await world.make()
    then = await world.make(depends_on=(first,), on_dependency_failure=OnDependencyFailure.FAIL)
    await world.finish(first, Raised("boom"))
    assert await world.state(then) is State.FAILED
    await world.mark_done(first)
    assert await world.state(then) is State.FAILED
    assert await world.requeue(then) is State.READY
    await world.finish(then, Returned("1"))


async def test_retention_takes_the_move_with_its_job(world: World) -> None:
    job_id = await world.make()
    await world.store.cancel(job_id)
    await world.mark_done(job_id)
    seq = (await world.job(job_id)).seq
    await world.clock.advance(100 * 86_400)
    await world.fold()
    assert await world.store.prune(1, 1000)
    assert await world.store.read(lambda tx: hand_moves_of(tx, seq)) == []
