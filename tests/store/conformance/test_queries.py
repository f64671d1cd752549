"""Looking: by id, by filter, in numbers; and what is not there."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from hanbeon.domain.job import OnDependencyFailure
from hanbeon.domain.lifecycle import State
from hanbeon.domain.outcome import Raised
from hanbeon.domain.retry import Backoff, OnLost, RetryPolicy
from hanbeon.errors import InvalidInput, JobNotFound, NotFound
from hanbeon.store.batch_cancel import cancel_where
from hanbeon.store.operations import queries
from hanbeon.store.operations.cancel import CancelFilter
from hanbeon.store.operations.promote import next_due_us
from hanbeon.store.operations.queries import JobFilter, attempts_of, jobs_by_id, list_jobs
from tests.store.world import World, new_id, new_job


async def test_a_job_is_read_as_it_was_written(world: World) -> None:
    job = new_job(
        task="작업",
        args='{"한": "번"}',
        queue="q",
        role="r",
        concurrency_key="k",
        priority=-(2**31),
        urgent=True,
        run_at_us=world.clock.now_us() + 5,
        on_dependency_failure=OnDependencyFailure.FAIL,
        idempotency_key="i",
        unique_key="u",
        timeout_us=1,
        policy=RetryPolicy(7, Backoff.LINEAR, 123, 0.25, OnLost.FAIL),
        work_item="w",
        meta="{}",
    )
    await world.enqueue(job)
    queries = await world.job(job.id)
    for field in ("id", "task", "args", "queue", "role", "concurrency_key", "priority", "urgent", "policy", "meta"):
        assert getattr(queries, field) == getattr(job, field)
    for field in ("on_dependency_failure", "idempotency_key", "unique_key", "timeout_us", "work_item"):
        assert getattr(queries, field) == getattr(job, field)
    now = world.clock.now_us()
    assert (queries.state, queries.run_at, queries.created_at, queries.unmet) == (State.PENDING, now + 5, now, 0)
    assert (queries.fence, queries.retry_count, queries.locked_by, queries.started_at, queries.finished_at) == (
        0,
        0,
        None,
        None,
        None,
    )


async def test_a_time_in_the_past_is_now(world: World) -> None:
    job = new_job(run_at_us=world.clock.now_us() - 1)
    (made,) = await world.enqueue(job)
    assert made.state is State.READY


UNKNOWN: dict[str, Callable[[World, str], Awaitable[Any]]] = {
    "job": lambda world, job_id: world.store.job(job_id),
    "cancel": lambda world, job_id: world.store.cancel(job_id),
    "requeue": lambda world, job_id: world.requeue(job_id),
    "reprioritise": lambda world, job_id: world.reprioritise(job_id, 1, None),
}


async def test_an_id_that_names_no_job_is_not_found(world: World) -> None:
    for job_id in (new_id(), "", "7", "not an id", "\x00", (await world.make()).upper()):
        for ask in UNKNOWN.values():
            with pytest.raises(JobNotFound):
                await ask(world, job_id)
        assert await world.store.read(partial(jobs_by_id, ids=[job_id])) == []
        assert await world.store.read(partial(attempts_of, job_id=job_id)) == []
        assert await world.store.read(partial(queries.dependencies_of, job_id=job_id)) == []


async def test_a_queue_that_is_not_there_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="no queue 'nowhere'"):
        await world.counts("nowhere")
    with pytest.raises(NotFound):
        await cancel_where(world.store, CancelFilter(queue="nowhere"))


@pytest.mark.parametrize("priority", [2**31, -(2**31) - 1])
async def test_a_priority_must_fit(world: World, priority: int) -> None:
    job_id = await world.make()
    with pytest.raises(InvalidInput, match="priority"):
        await world.reprioritise(job_id, priority, None)
    assert (await world.job(job_id)).priority == 0


async def _mixed(world: World) -> list[str]:
    """One finished, one running, one ready, one pending, in two queues, by task, role and work item."""
    given: list[dict[str, Any]] = [
        {"role": "FE", "work_item": "w1"},
        {"role": "FE", "work_item": "w2"},
        {"role": "BE", "work_item": "w1", "queue": "other"},
        {"task": "u", "delay_us": 10**12, "work_item": "w1"},
    ]
    ids = [await world.make(**each) for each in given]
    await world.finish(ids[0], Raised("boom"))
    await world.claim_this(ids[1])
    return ids


async def test_list_jobs_filters_and_pages_in_creation_order(world: World) -> None:
    ids = await _mixed(world)

    async def listed(**given: Any) -> list[int]:
        return [ids.index(job.id) for job in await world.store.read(lambda tx: list_jobs(tx, JobFilter(**given)))]

    assert await listed() == [0, 1, 2, 3]
    assert await listed(queue="default") == [0, 1, 3]
    assert await listed(states=(State.RUNNING, State.FAILED)) == [0, 1]
    assert await listed(states=()) == []
    assert await listed(task="u") == [3]
    assert await listed(role="FE") == [0, 1]
    assert await listed(work_item="w1") == [0, 2, 3]
    assert await listed(work_item="w1", queue="default", states=(State.PENDING,)) == [3]
    seen, after = [], 0
    while page := await world.store.read(partial(list_jobs, filter=JobFilter(), after=after, limit=3)):
        after = page[-1].seq
        seen.append([ids.index(job.id) for job in page])
    assert seen == [[0, 1, 2], [3]]


async def test_jobs_are_listed_the_newest_first_too(world: World) -> None:
    ids = await _mixed(world)

    async def listed(after: int = 0, limit: int = 100, **given: Any) -> list[int]:
        found = await world.store.read(lambda tx: list_jobs(tx, JobFilter(newest=True, **given), after, limit))
        return [ids.index(job.id) for job in found]

    assert await listed() == [3, 2, 1, 0]
    assert await listed(queue="default") == [3, 1, 0]
    assert await listed(states=(State.RUNNING, State.FAILED)) == [1, 0]
    assert await listed(states=()) == []
    assert await listed(task="u") == [3]
    assert await listed(role="FE") == [1, 0]
    assert await listed(work_item="w1", limit=2) == [3, 2]
    seqs = [(await world.job(job_id)).seq for job_id in ids]
    assert await listed(after=seqs[3], limit=2) == [2, 1]
    assert await listed(after=seqs[1]) == [0]
    assert await listed(after=seqs[0]) == []


@pytest.mark.parametrize("few", [0, 10_000])
@pytest.mark.parametrize("newest", [False, True])
async def test_list_jobs_is_equal_for_few_and_many_unfinished(
    world: World, monkeypatch: pytest.MonkeyPatch, few: int, newest: bool
) -> None:
    monkeypatch.setattr(queries, "_FEW", few)
    ids = await _mixed(world)
    seqs = [(await world.job(job_id)).seq for job_id in ids]

    async def listed(*states: State, after: int = 0, limit: int = 100, **given: Any) -> list[int]:
        found = await world.store.read(
            lambda tx: list_jobs(tx, JobFilter(states=states, newest=newest, **given), after, limit)
        )
        return [ids.index(job.id) for job in found]

    def ordered(*places: int) -> list[int]:
        return sorted(places, reverse=newest)

    assert await listed(State.RUNNING) == [1]
    assert await listed(State.PENDING, State.READY) == ordered(2, 3)
    unfinished = (State.PENDING, State.READY, State.RUNNING)
    assert await listed(*unfinished) == ordered(1, 2, 3)
    assert await listed(*unfinished, limit=2) == ordered(1, 2, 3)[:2]
    assert await listed(*unfinished, after=seqs[2]) == ([1] if newest else [3])
    assert await listed(*unfinished, queue="other") == [2]
    assert await listed(*unfinished, queue="nowhere") == []
    assert await listed(*unfinished, task="u") == [3]
    assert await listed(*unfinished, role="BE") == [2]
    assert await listed(*unfinished, work_item="w1") == ordered(2, 3)


async def test_states_are_counted_zeros_included(world: World) -> None:
    await _mixed(world)
    assert await world.counts("default") == {
        State.PENDING: 1,
        State.READY: 0,
        State.RUNNING: 1,
        State.SUCCEEDED: 0,
        State.FAILED: 1,
        State.CANCELLED: 0,
    }
    assert sum((await world.counts()).values()) == 4


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [1, 2, 3]),
        ({"queue": "default"}, [1, 3]),
        ({"role": "FE"}, [1]),
        ({"task": "u"}, [3]),
        ({"work_item": "w1"}, [2, 3]),
        ({"states": (State.PENDING, State.READY)}, [2, 3]),
        ({"states": (State.RUNNING,)}, [1]),
        ({"states": (State.FAILED,)}, []),
        ({"states": ()}, []),
    ],
    ids=str,
)
async def test_many_are_cancelled_at_once_by_any_filter(
    world: World, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], expected: list[int]
) -> None:
    monkeypatch.setattr("hanbeon.store.turns.AT_ONCE", 2)
    ids = await _mixed(world)
    before = await world.states(ids)
    accepted = await cancel_where(world.store, CancelFilter(**given))
    assert accepted == [ids[n] for n in expected]
    for n, job in enumerate([await world.job(job_id) for job_id in ids]):
        if n in expected and before[n] is not State.RUNNING:
            assert job.state is State.CANCELLED
        else:
            assert job.state is before[n]
            assert (job.stop_requested_at is not None) == (n in expected)


async def test_cancelling_many_takes_more_batches_than_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.turns.AT_ONCE", 10)
    jobs = [new_job(delay_us=(n % 2) * 10**9, task="tu"[n % 2]) for n in range(30)]
    # What would fail with a job of an earlier batch is cancelled like the others.
    behind = OnDependencyFailure.FAIL
    jobs += [new_job(depends_on=(jobs[n].id,), on_dependency_failure=behind) for n in range(5)]
    await world.enqueue(*jobs)
    assert await cancel_where(world.store, CancelFilter()) == [job.id for job in jobs]
    assert await cancel_where(world.store, CancelFilter()) == []
    assert (await world.counts())[State.CANCELLED] == 35


async def test_next_due_ignores_jobs_with_unmet_dependencies(world: World) -> None:
    assert await world.store.read(next_due_us) is None
    first = await world.make(delay_us=50)
    await world.make(delay_us=20, depends_on=(first,))
    await world.make()
    assert await world.store.read(next_due_us) == 50
    await world.clock.advance(0.00006)
    assert await world.store.read(next_due_us) == -10
    assert await world.promote(10) == 1
    assert await world.store.read(next_due_us) is None


async def test_promote_takes_longest_due_first_up_to_limit(world: World) -> None:
    ids = [await world.make(delay_us=delay) for delay in (30, 10, 20)]
    await world.clock.advance(1)
    assert await world.promote(2) == 2
    assert await world.states(ids) == [State.PENDING, State.READY, State.READY]
    assert await world.promote(2) == 1
    assert await world.promote(2) == 0


async def test_running_jobs_are_listed_longest_first(world: World) -> None:
    for queue in ("a", "b", "a"):
        job_id = await world.make(queue=queue)
        await world.claim_this(job_id)
        await world.clock.advance(1)
    await world.make(queue="a")
    running = await world.store.read(lambda tx: queries.running_jobs(tx, 10))
    assert [job.queue for job in running] == ["a", "b", "a"]
    assert [job.started_at for job in running] == sorted(job.started_at or 0 for job in running)
    assert len(await world.store.read(lambda tx: queries.running_jobs(tx, 2))) == 2
    assert await world.store.read(queries.now_us) == world.clock.now_us()
