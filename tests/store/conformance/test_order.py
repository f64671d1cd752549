"""Claim order: within a queue, with the task filter, between queues, and in queues of many lanes."""

import pytest

from hanbeon.domain.job import Claimed
from hanbeon.domain.outcome import HandedBack
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.store.operations.complete import CompletionReport
from tests.store.world import INSTANCE, LEASE_US, World, new_job


async def test_urgent_then_priority_then_creation(world: World) -> None:
    late, first, second = new_job(priority=1), new_job(), new_job()
    await world.enqueue(late, first, second)
    soon, urgent_late, urgent = new_job(priority=-1), new_job(urgent=True, priority=9), new_job(urgent=True)
    await world.enqueue(soon, urgent_late, urgent)
    expected = [urgent, urgent_late, soon, first, second, late]
    assert await world.claim_ids() == [job.id for job in expected]


async def test_the_order_goes_across_the_lanes_of_a_queue(world: World) -> None:
    jobs = [new_job(task=f"t{n % 3}", role="ab"[n % 2], concurrency_key=str(n % 5), priority=n // 7) for n in range(40)]
    await world.enqueue(*jobs)
    claimed = [job.id for _ in jobs for job in await world.claim(1, ["t0", "t1", "t2"])]
    assert claimed == [job.id for job in jobs]


async def test_claim_keeps_order_across_lanes(world: World) -> None:
    """Also when another queue shares the claim, so that less is looked at than stands in the first lane."""
    urgent = [new_job(task="a", urgent=True) for _ in range(20)]
    normal = [new_job(task="b") for _ in range(20)]
    await world.enqueue(*normal, *urgent, new_job(task="a", queue="other"))
    claimed: list[str] = []
    while taken := await world.claim(10, ["a", "b"]):
        claimed += [job.id for job in taken if job.queue == "default"]
    assert claimed == [job.id for job in urgent + normal]


async def test_batch_keeps_array_order_after_earlier_batches(world: World) -> None:
    jobs = [new_job() for _ in range(50)]
    await world.enqueue(*jobs[:20])
    await world.enqueue(*jobs[20:])
    assert await world.claim_ids(30) == [job.id for job in jobs[:30]]
    assert await world.claim_ids(30) == [job.id for job in jobs[30:]]


async def test_reprioritising_moves_a_job_in_the_line(world: World) -> None:
    first, second, third = [await world.make() for _ in range(3)]
    await world.reprioritise(third, -1, None)
    await world.reprioritise(second, None, True)
    assert await world.claim_ids() == [second, third, first]
    job = await world.job(third)
    assert (job.priority, job.urgent) == (-1, False)


async def test_a_job_handed_back_keeps_its_place(world: World) -> None:
    first, second = [await world.make() for _ in range(2)]
    await world.settle(await world.claim_this(first), HandedBack())
    assert await world.claim_ids() == [first, second]


async def test_only_registered_tasks_are_claimed(world: World) -> None:
    unknown, known = await world.make(task="unknown", urgent=True), await world.make(task="known")
    assert await world.claim_ids(tasks=["known", "other"]) == [known]
    assert await world.claim_ids(tasks=["known"]) == []
    assert await world.claim_ids(tasks=[]) == []
    assert await world.claim_ids(tasks=["unknown"]) == [unknown]


async def test_nothing_is_claimed_when_nothing_is_wanted(world: World) -> None:
    await world.make()
    assert await world.claim_ids(0) == []
    assert len(await world.claim_ids(1)) == 1


async def test_a_job_is_claimed_with_all_that_its_body_needs(world: World) -> None:
    job = new_job(queue="q", role="r", args='{"a":1}', timeout_us=5_000_000, idempotency_key="once", priority=3)
    await world.enqueue(job)
    (held,) = await world.claim()
    assert (held.id, held.queue, held.task, held.role, held.args) == (job.id, "q", "t", "r", '{"a":1}')
    assert (held.fence, held.retry_count, held.timeout_us, held.policy) == (1, 0, 5_000_000, job.policy)
    assert (held.idempotency_key, held.started_at, held.progress) == ("once", world.clock.now_us(), None)
    record = await world.job(job.id)
    now = world.clock.now_us()
    assert (record.locked_by, record.locked_until, record.deadline_at) == (INSTANCE, now + LEASE_US, now + 5_000_000)


async def test_queues_take_turns_even_when_one_is_wanted_at_a_time(world: World) -> None:
    queues = ["a", "b", "c", "d"]
    await world.enqueue(*[new_job(queue=queue) for queue in queues for _ in range(6)])
    order, cursor = [], 0
    for _ in range(24):
        answer = await world.store.claim(ClaimRequest(INSTANCE, ["t"], 1, LEASE_US, cursor))
        cursor = answer.cursor
        order += [job.queue for job in answer.jobs]
    assert order == queues * 6


async def test_a_claim_of_many_is_shared_between_queues(world: World) -> None:
    await world.enqueue(*[new_job(queue="big") for _ in range(100)])
    await world.enqueue(*[new_job(queue="small") for _ in range(3)])
    taken = [job.queue for job in await world.claim(10)]
    assert taken[:6] == ["big", "small"] * 3
    assert len(await world.claim(100)) + len(taken) == 103


async def test_no_queue_starves_while_others_are_filled_up(world: World) -> None:
    """Whatever is wanted, and though each claimed job of the others is replaced at once."""
    for want in (1, 2, 3):
        await world.empty()
        await world.enqueue(*[new_job(queue=f"q{n}") for n in range(5) for _ in range(want)])
        waiting = {await world.make(queue="patient") for _ in range(3)}
        cursor, claims = 0, 0
        while waiting:
            answer = await world.store.claim(ClaimRequest(INSTANCE, ["t"], want, LEASE_US, cursor))
            cursor, claims = answer.cursor, claims + 1
            waiting -= {job.id for job in answer.jobs}
            await world.enqueue(*[new_job(queue=job.queue) for job in answer.jobs if job.queue != "patient"])
            assert claims <= 6 * 3 * 2


async def test_a_queue_of_hundreds_of_lanes_keeps_its_order(world: World) -> None:
    """More lanes than are fetched at once, and other queues before and behind it."""
    many = [new_job(queue="many", concurrency_key=f"{n:04}") for n in range(600)]
    before, behind = new_job(queue="before"), new_job(queue="zbehind")
    await world.enqueue(before)
    await world.enqueue(*many)
    await world.enqueue(behind)
    urgent = new_job(queue="many", concurrency_key="0599", urgent=True)
    await world.enqueue(urgent)
    order, cursor = [], 0
    for _ in range(8):
        answer = await world.store.claim(ClaimRequest(INSTANCE, ["t"], 1, LEASE_US, cursor))
        cursor = answer.cursor
        order += [job.id for job in answer.jobs]
    assert order[:3] == [before.id, urgent.id, behind.id]
    assert order[3:] == [job.id for job in many[:5]]
    rest = await world.claim_ids(1000)
    assert rest == [job.id for job in many[5:]]


async def test_hundreds_of_closed_lanes_hide_nothing_and_end_the_look(world: World) -> None:
    await world.enqueue(*[new_job(queue="paused", concurrency_key=str(n)) for n in range(300)])
    await world.enqueue(*[new_job(queue="unknown", task=f"u{n}") for n in range(300)])
    await world.enqueue(*[new_job(queue="saturated", concurrency_key=str(n)) for n in range(300)])
    await world.store.change_queue("paused", paused=True)
    await world.store.change_queue("saturated", {"max_concurrent": 1})
    assert len(await world.claim(1)) == 1
    last = await world.make(queue="zlast")
    assert await world.claim_ids(1) == [last]
    answer = await world.store.claim(ClaimRequest(INSTANCE, ["t"], 1, LEASE_US, 0))
    assert (answer.jobs, answer.cursor) == ([], 0)


async def test_queue_with_more_lanes_than_one_scan_runs_all(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.store.operations.claim._LANES_A_FETCH", 4)
    monkeypatch.setattr("hanbeon.store.operations.claim._LANES_A_SCAN", 8)
    jobs = [new_job(concurrency_key=f"{n:02}") for n in range(30)]
    await world.enqueue(*jobs, *[new_job(queue="other") for _ in range(30)])
    for want in (1, 3, 50):
        cursor, looks = 0, 0
        seen: list[Claimed] = []
        while len(seen) < 60 and looks < 200:
            answer = await world.store.claim(ClaimRequest(INSTANCE, ["t"], want, LEASE_US, cursor))
            cursor, looks = answer.cursor, looks + 1
            seen += answer.jobs
        assert len({job.id for job in seen}) == 60
        await world.store.complete([CompletionReport(job.seq, job.fence, HandedBack()) for job in seen])


@pytest.mark.parametrize("wrong", ["priority = 1", "urgent = true", "rank = 1"])
async def test_rank_follows_urgency_and_priority(world: World, wrong: str) -> None:
    """A statement that changes one of the three alone is rejected: claims would go by another order than is shown."""
    await world.make()
    with pytest.raises(Exception, match=r"hanbeon.job.rank"):
        await world.sql(f"UPDATE hanbeon.job SET {wrong}")
