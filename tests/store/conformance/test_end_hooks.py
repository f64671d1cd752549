"""End hooks: whoever ends a job, its owner's writes commit with that end, or neither does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from hanbeon.domain.events import Event
from hanbeon.domain.job import OnConflict, OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import HandedBack, PutOff, Raised, Returned, TimedOut
from hanbeon.domain.retry import OnLost, RetryPolicy
from hanbeon.errors import Conflict
from hanbeon.store.batch_cancel import cancel_where
from hanbeon.store.operations import cancel, end_hooks
from hanbeon.store.operations.complete import CompletionReport
from hanbeon.store.operations.end_hooks import EndedJob, EndHook, register_end_hook
from hanbeon.store.operations.lanes import LaneCache
from hanbeon.store.tx import Tx
from tests.store.world import LEASE, World, new_job

TASK = "hooked:x"


class HookBroke(Exception):
    """Raised by the hook of a test."""


class Hook:
    """Writes an event for each job that it is called with, in the transaction of its end."""

    def __init__(self) -> None:
        self.calls: list[EndedJob] = []
        self.breaks = False

    async def __call__(self, tx: Tx, lanes: LaneCache, ended: Sequence[EndedJob]) -> None:
        if self.breaks:
            raise HookBroke
        self.calls += ended
        for job in ended:
            tx.emit(Event(type="hook", at=job.finished_at, queue="default", details={"of": job.id}))


@pytest.fixture
def hook(world: World) -> Iterator[Hook]:
    hook = Hook()
    register_end_hook(EndHook("hooked", hook, "a test", "let it be"))
    world.store.lanes = LaneCache()
    yield hook
    del end_hooks._hooks["hooked"]
    world.store.lanes = LaneCache()


async def make(world: World, **given: object) -> str:
    return await world.make(task=TASK, **given)


async def ended(world: World, hook: Hook, job_id: str, state: State) -> EndedJob:
    """The one call of the hook, whose event committed with the end of the job."""
    assert await world.state(job_id) is state
    (call,) = hook.calls
    assert (call.id, call.task, call.state) == (job_id, TASK, state)
    hooked = [event for event in await world.events() if event.type == "hook"]
    assert [event.details for event in hooked] == [{"of": job_id}]
    return call


async def test_success_by_the_fast_path(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    await world.settle(held, Returned('{"a":1}'))
    assert (await ended(world, hook, job_id, State.SUCCEEDED)).result == '{"a":1}'


async def test_success_by_the_general_path(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    await world.store.complete([CompletionReport(held.seq, held.fence, Returned("2"))])
    assert (await ended(world, hook, job_id, State.SUCCEEDED)).result == "2"


async def test_success_with_children(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    report = CompletionReport(held.seq, held.fence, Returned(), instance=held.instance)
    assert await world.store.complete_with_children(report, [new_job()]) is not None
    await ended(world, hook, job_id, State.SUCCEEDED)


async def test_success_of_a_user_transaction(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    report = CompletionReport(held.seq, held.fence, Returned(), instance=held.instance)
    assert await world.store.complete_within(await world.store.begin(), report, []) is not None
    await ended(world, hook, job_id, State.SUCCEEDED)


async def test_failure_for_good(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    await world.settle(held, Raised("broken", "odd"))
    call = await ended(world, hook, job_id, State.FAILED)
    assert (call.failure_type, call.error_message) == ("odd", "broken")


async def test_timeout(world: World, hook: Hook) -> None:
    job_id = await make(world, timeout_us=1)
    (held,) = await world.claim(tasks=[TASK])
    await world.settle(held, TimedOut())
    assert (await ended(world, hook, job_id, State.FAILED)).failure_type == "timeout"


async def test_recovery_by_another_instance(world: World, hook: Hook) -> None:
    job_id = await make(world, policy=RetryPolicy(max_retries=0, on_lost=OnLost.FAIL))
    await world.claim(tasks=[TASK])
    await world.clock.advance(LEASE + 1)
    world.store.lanes = LaneCache()  # That instance has never seen the task.
    await world.recover(10)
    assert (await ended(world, hook, job_id, State.FAILED)).failure_type == "lost"


@pytest.mark.parametrize("delay_us", [None, 60_000_000])
async def test_cancel_of_a_waiting_job(world: World, hook: Hook, delay_us: int | None) -> None:
    job_id = await make(world, delay_us=delay_us)
    await world.store.cancel(job_id)
    await ended(world, hook, job_id, State.CANCELLED)


async def test_cancel_of_a_running_job(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    await world.store.cancel(job_id)
    assert hook.calls == []
    await world.settle(held, Returned())
    await ended(world, hook, job_id, State.CANCELLED)


async def test_bulk_cancel(world: World, hook: Hook) -> None:
    job_id = await make(world)
    await cancel_where(world.store, cancel.CancelFilter(task=TASK))
    await ended(world, hook, job_id, State.CANCELLED)


async def test_failed_dependency(world: World, hook: Hook) -> None:
    first = await world.make()
    job_id = await make(world, depends_on=(first,), on_dependency_failure=OnDependencyFailure.FAIL)
    await world.finish(first, Raised("broken"))
    assert (await ended(world, hook, job_id, State.FAILED)).failure_type == "dependency_failed"


async def test_replaced_by_its_unique_key(world: World, hook: Hook) -> None:
    job_id = await make(world, unique_key="k")
    await world.make(unique_key="k", on_conflict=OnConflict.REPLACE_PENDING)
    await ended(world, hook, job_id, State.CANCELLED)


async def test_no_call_while_the_job_goes_on(world: World, hook: Hook) -> None:
    await make(world, policy=RetryPolicy(max_retries=1, base_us=0))
    for outcome in (HandedBack(), PutOff(0), Raised("again")):
        (held,) = await world.claim(tasks=[TASK])
        await world.settle(held, outcome)
        await world.promote(10)
    assert hook.calls == []


async def test_failed_hook_undoes_the_end(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    hook.breaks = True
    with pytest.raises(HookBroke):
        await world.settle(held)
    assert await world.state(job_id) is State.RUNNING
    hook.breaks = False
    await world.settle(held)
    await ended(world, hook, job_id, State.SUCCEEDED)


async def test_requeue_is_refused(world: World, hook: Hook) -> None:
    job_id = await make(world)
    (held,) = await world.claim(tasks=[TASK])
    await world.settle(held, Raised("broken"))
    with pytest.raises(Conflict, match="belongs to a test"):
        await world.requeue(job_id)
    await ended(world, hook, job_id, State.FAILED)


async def test_other_tasks_pay_nothing(world: World, hook: Hook) -> None:
    await world.finish(await world.make())
    assert (world.store.lanes.hooked, hook.calls) == ({}, [])


async def test_end_without_the_owner_is_refused(world: World) -> None:
    """An unknown built-in task belongs to a surface that this process lacks: its object would wait for ever."""
    task = "hanbeon.absent:x"
    job_id = await world.make(task=task)
    (held,) = await world.claim(tasks=[task])
    with pytest.raises(RuntimeError, match="no end hook is registered"):
        await world.settle(held)
    assert await world.state(job_id) is State.RUNNING
