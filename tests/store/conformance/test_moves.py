"""Every command on a job in every state does what the lifecycle says, or nothing."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import pytest

from hanbeon.domain.job import Claimed, NewJob, OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import LIFECYCLE, AttemptStatus, Reason, State, is_legal
from hanbeon.domain.outcome import HandedBack, Outcome, PutOff, Raised, Returned, TimedOut
from hanbeon.domain.retry import RetryPolicy
from hanbeon.errors import Conflict, WrongState
from hanbeon.store.operations.queries import attempts_of
from tests.store.stream_words import send
from tests.store.world import LEASE, World, changed, lease_of, new_job

RETRY_DELAY = 60.0


class Subject(NamedTuple):
    """A job that has run before, so that in every state there is a lease to report with: live only while running."""

    job: NewJob
    held: Claimed


async def bring(world: World, state: State) -> Subject:
    """A job brought into `state` by the store's own means."""
    job = new_job(unique_key="key", policy=RetryPolicy(max_retries=3))
    await world.enqueue(job)
    held = await world.claim_this(job.id)
    match state:
        case State.RUNNING:
            pass
        case State.PENDING:
            await world.settle(held, Raised("boom"))
        case State.READY:
            await world.settle(held, HandedBack())
        case State.SUCCEEDED:
            await world.settle(held, Returned("1"))
        case State.FAILED:
            await world.settle(held, Raised("boom", permanent=True))
        case State.CANCELLED:
            await world.settle(held, HandedBack())
            await world.store.cancel(job.id)
    assert await world.state(job.id) is state
    return Subject(job, held)


Command = Callable[[World, Subject], Awaitable[object]]


def settle_with(outcome: Outcome) -> Command:
    return lambda world, subject: world.settle(subject.held, outcome)


async def stop_and_settle(world: World, subject: Subject) -> None:
    if await world.state(subject.job.id) is State.RUNNING:
        await world.store.cancel(subject.job.id)
    await world.settle(subject.held, Returned("a later result"))


async def replace_it(world: World, subject: Subject) -> None:
    await world.make(unique_key="key", on_conflict=OnConflict.REPLACE_PENDING)


async def promote_when_due(world: World, subject: Subject) -> None:
    await world.clock.advance(RETRY_DELAY)
    await world.promote(10)


async def recover_when_expired(world: World, subject: Subject) -> None:
    await world.clock.advance(LEASE)
    await world.recover(10)


async def enqueue_again(world: World, subject: Subject) -> None:
    (again,) = await world.enqueue(changed(subject.job, on_conflict=OnConflict.SKIP))
    assert (again.id, again.created) == (subject.job.id, False)


# A command, and the reasons for which it may move a job: at most one of them from any one state.
COMMANDS: dict[str, tuple[Command, list[Reason]]] = {
    "enqueue again": (enqueue_again, [Reason.ENQUEUED, Reason.SCHEDULED]),
    "promote": (promote_when_due, [Reason.PROMOTED]),
    "claim": (lambda world, subject: world.claim(10), [Reason.CLAIMED]),
    "dispatch": (lambda world, subject: send(world), [Reason.DISPATCHED]),
    "settle: returned": (settle_with(Returned("2")), [Reason.SUCCEEDED]),
    "settle: raised": (settle_with(Raised("boom")), [Reason.RETRIED]),
    "settle: raised for good": (settle_with(Raised("boom", permanent=True)), [Reason.FAILED]),
    "settle: timed out": (settle_with(TimedOut()), [Reason.RETRIED]),
    "settle: handed back": (settle_with(HandedBack()), [Reason.RELEASED]),
    "settle: put off": (settle_with(PutOff(1_000_000)), [Reason.POSTPONED]),
    "settle: asked to stop": (stop_and_settle, [Reason.STOP_REQUESTED]),
    "recover": (recover_when_expired, [Reason.RETRIED]),
    "overdue": (lambda world, subject: world.note_overdue(lease_of(subject.held)), [Reason.OVERDUE]),
    "cancel": (lambda world, subject: world.store.cancel(subject.job.id), [Reason.STOP_REQUESTED, Reason.CANCELLED]),
    "replace": (replace_it, [Reason.REPLACED]),
    "requeue": (lambda world, subject: world.requeue(subject.job.id), [Reason.REQUEUED]),
    "mark done": (lambda world, subject: world.mark_done(subject.job.id), [Reason.MARKED_DONE]),
    "reprioritise": (lambda world, subject: world.reprioritise(subject.job.id, 5, True), [Reason.REPRIORITISED]),
}
# What follows at once in the same transaction or command.
FOLLOWED_BY = {
    ("recover", State.RUNNING): [Reason.PROMOTED],
    ("settle: asked to stop", State.RUNNING): [Reason.STOPPED],
    ("requeue", State.FAILED): [Reason.PROMOTED],
    ("requeue", State.CANCELLED): [Reason.PROMOTED],
}
ENDS = {
    "settle: returned": AttemptStatus.COMPLETED,
    "settle: raised": AttemptStatus.FAILED,
    "settle: raised for good": AttemptStatus.FAILED,
    "settle: timed out": AttemptStatus.TIMEOUT,
    "settle: handed back": AttemptStatus.RELEASED,
    "settle: put off": AttemptStatus.RELEASED,
    "settle: asked to stop": AttemptStatus.CANCELLED,
    "recover": AttemptStatus.LOST,
}


@pytest.mark.parametrize("name", COMMANDS)
async def test_commands_obey_the_lifecycle(world: World, name: str) -> None:
    for state in State:
        await world.empty()
        await check_command(world, name, state)


async def check_command(world: World, name: str, state: State) -> None:
    command, reasons = COMMANDS[name]
    subject = await bring(world, state)
    job_id = subject.job.id
    job, before = await world.job(job_id), await world.events(job_id)
    attempts = await world.store.read(lambda tx: attempts_of(tx, job_id))
    expected = [reason for reason in reasons if state in LIFECYCLE[reason].sources]
    assert len(expected) <= 1

    try:
        await command(world, subject)
    except Conflict:
        assert not expected, f"{name} is legal from {state}"

    new = (await world.events(job_id))[len(before) :]
    assert [event.type for event in new] == [*expected, *FOLLOWED_BY.get((name, state), [])], (name, state)
    after = await world.job(job_id)
    if not expected:
        assert after == job, (name, state)
        assert await world.store.read(lambda tx: attempts_of(tx, job_id)) == attempts
        return
    assert new[0].state is not None
    assert is_legal(expected[0], state, new[0].state)
    assert after.state is new[-1].state
    ended = (await world.store.read(lambda tx: attempts_of(tx, job_id)))[len(attempts) :]
    assert [(end.attempt, end.status) for end in ended] == ([(subject.held.fence, ENDS[name])] if name in ENDS else [])


def test_every_reason_is_tried() -> None:
    """Those that no command brings about directly have tests of their own here or in this folder."""
    tried = {reason for _, reasons in COMMANDS.values() for reason in reasons}
    tried |= {reason for reasons in FOLLOWED_BY.values() for reason in reasons}
    assert tried == set(Reason) - {Reason.DEPENDENCY_FAILED, Reason.EXPIRED}


@pytest.mark.parametrize("state", [State.PENDING, State.CANCELLED, State.FAILED])
async def test_failed_dependency_fails_only_its_dependents(world: World, state: State) -> None:
    first = await world.make(priority=-1)
    second = await world.make()
    both = new_job(depends_on=(first, second), on_dependency_failure=OnDependencyFailure.FAIL)
    await world.enqueue(both)
    if state is State.CANCELLED:
        await world.store.cancel(both.id)
    if state is State.FAILED:
        await world.finish(first, Raised("boom"))
        first = second
    assert await world.state(both.id) is state
    before = await world.job(both.id)
    await world.finish(first, Raised("boom"))
    after, reasons = await world.job(both.id), await world.reasons(both.id)
    if state in LIFECYCLE[Reason.DEPENDENCY_FAILED].sources:
        assert (after.state, after.failure_type) == (State.FAILED, "dependency_failed")
        assert reasons == ["scheduled", "dependency_failed"]
    else:
        assert after == before
    assert await world.store.read(lambda tx: attempts_of(tx, both.id)) == []


async def test_a_refusal_names_the_state_and_the_states_allowed(world: World) -> None:
    job_id = (await bring(world, State.SUCCEEDED)).job.id
    with pytest.raises(WrongState, match=f"{job_id} is succeeded; only pending or ready or running jobs can be canc"):
        await world.store.cancel(job_id)
    with pytest.raises(WrongState, match=f"{job_id} is succeeded; only failed or cancelled jobs can be retried"):
        await world.requeue(job_id)
    with pytest.raises(WrongState, match=f"{job_id} is succeeded; only pending or ready or running jobs can be repr"):
        await world.reprioritise(job_id, 1, None)


async def test_cancel_says_where_the_job_is_now(world: World) -> None:
    for state, answer in [
        (State.PENDING, State.CANCELLED),
        (State.RUNNING, State.RUNNING),
        (State.CANCELLED, State.CANCELLED),
    ]:
        subject = await bring(world, state)
        assert await world.store.cancel(subject.job.id) is answer
        assert await world.store.cancel(subject.job.id) is answer
        assert (await world.reasons(subject.job.id)).count("stop_requested") == (state is State.RUNNING)
        await world.settle(subject.held)


async def test_the_events_of_a_life_tell_what_a_reader_needs(world: World) -> None:
    job = new_job(queue="q", delay_us=1_000_000, policy=RetryPolicy(max_retries=1, base_us=2_000_000))
    await world.enqueue(job)
    start = world.clock.now_us()
    await world.clock.advance(1)
    await world.promote(10)
    held = await world.claim_this(job.id)
    await world.settle(held, Raised("boom", "odd"))
    events = [(event.type, event.state, event.attempt, event.details) for event in await world.events(job.id)]
    assert events == [
        ("scheduled", State.PENDING, None, {"run_at": start + 1_000_000}),
        ("promoted", State.READY, None, {}),
        ("claimed", State.RUNNING, 1, {"instance": 7}),
        (
            "retried",
            State.PENDING,
            1,
            {"status": "failed", "failure_type": "odd", "message": "boom", "retry_at": start + 3_000_000},
        ),
    ]
    assert {(event.queue, event.task, event.job_id) for event in await world.events()} == {("q", "t", job.id)}
