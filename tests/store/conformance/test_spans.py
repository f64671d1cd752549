"""How long a job waited and how long an attempt ran, as events tell it."""

from hanbeon.clock import MICROS
from hanbeon.domain.lifecycle import Reason
from hanbeon.domain.outcome import HandedBack, PutOff, Raised, TimedOut
from hanbeon.domain.retry import RetryPolicy
from tests.store.world import LEASE, World

SECOND = MICROS


async def _took(world: World, job_id: str, reason: Reason) -> list[float | None]:
    """In seconds, of each event of that kind."""
    return [
        None if event.took is None else event.took / SECOND
        for event in await world.events(job_id)
        if event.type == reason.value
    ]


async def test_a_wait_begins_with_the_job_and_a_run_with_its_claim(world: World) -> None:
    job = await world.make()
    await world.clock.advance(3)
    held = await world.claim_this(job)
    await world.clock.advance(4)
    await world.settle(held)
    assert await _took(world, job, Reason.ENQUEUED) == [None]
    assert await _took(world, job, Reason.CLAIMED) == [3]
    assert await _took(world, job, Reason.SUCCEEDED) == [4]


async def test_wait_starts_at_run_at_even_if_promoted_late(world: World) -> None:
    job = await world.make(delay_us=10 * SECOND)
    await world.clock.advance(12)
    await world.promote(10)
    await world.clock.advance(1)
    await world.claim_this(job)
    assert await _took(world, job, Reason.CLAIMED) == [3]


async def test_wait_never_starts_before_creation(world: World) -> None:
    job = await world.make(run_at_us=world.clock.now_us() - 3600 * SECOND)
    await world.clock.advance(1)
    await world.claim_this(job)
    assert await _took(world, job, Reason.CLAIMED) == [1]


async def test_a_wait_begins_when_the_last_dependency_has_succeeded(world: World) -> None:
    first, second = await world.make(), await world.make()
    then = await world.make(depends_on=(first, second))
    await world.clock.advance(5)
    await world.finish(first)
    await world.clock.advance(5)
    await world.finish(second)
    await world.clock.advance(2)
    await world.finish(then)
    assert await _took(world, then, Reason.CLAIMED) == [2]


async def test_a_dependency_that_came_first_does_not_shorten_a_delay(world: World) -> None:
    first = await world.make()
    then = await world.make(depends_on=(first,), delay_us=10 * SECOND)
    await world.finish(first)
    await world.clock.advance(11)
    await world.promote(10)
    await world.claim_this(then)
    assert await _took(world, then, Reason.CLAIMED) == [1]


async def test_every_attempt_has_a_wait_and_a_run_of_its_own(world: World) -> None:
    job = await world.make(policy=RetryPolicy(max_retries=2, base_us=0))
    for wait, run, outcome in ((1, 2, HandedBack()), (3, 4, Raised("again")), (5, 6, PutOff(0)), (7, 8, TimedOut())):
        await world.clock.advance(wait)
        held = await world.claim_this(job)
        await world.clock.advance(run)
        await world.settle(held, outcome)
    assert await _took(world, job, Reason.CLAIMED) == [1, 3, 5, 7]
    assert await _took(world, job, Reason.RELEASED) == [2]
    assert await _took(world, job, Reason.RETRIED) == [4, 8]
    assert await _took(world, job, Reason.POSTPONED) == [6]


async def test_nobody_knows_how_long_a_lost_attempt_ran(world: World) -> None:
    job = await world.make()
    await world.claim_this(job)
    await world.clock.advance(LEASE + 1)
    await world.recover(10)
    assert await _took(world, job, Reason.RETRIED) == [None]


async def test_a_clock_that_was_set_back_makes_no_negative_wait(world: World) -> None:
    job = await world.make()
    await world.clock.step(-60)
    await world.claim_this(job)
    assert await _took(world, job, Reason.CLAIMED) == [0]
