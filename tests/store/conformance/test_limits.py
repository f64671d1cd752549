"""Limits per queue, role and key hold at every claim; a paused queue starts nothing."""

from typing import Any

import pytest

from hanbeon.domain.limits import QueueLimits
from hanbeon.domain.outcome import Raised
from hanbeon.errors import InvalidInput
from hanbeon.store.operations import queues as queue_rows
from tests.store.world import LEASE, World, new_job


async def test_a_queue_runs_as_many_as_it_may(world: World) -> None:
    await world.store.change_queue("default", {"max_concurrent": 2})
    first, second, third, fourth = [await world.make() for _ in range(4)]
    held = await world.claim(10)
    assert [job.id for job in held] == [first, second]
    assert await world.claim(10) == []
    await world.settle(held[1])
    assert await world.claim_ids() == [third]
    await world.settle(held[0], Raised("boom"))
    assert await world.claim_ids() == [fourth]


async def test_a_full_role_lets_others_pass_in_their_order(world: World) -> None:
    await world.store.change_queue("default", {"roles": {"FE": 1, "BE": 2}})
    roles = ["FE", "FE", "BE", "QA", "BE", "BE", "QA", ""]
    jobs = [new_job(role=role, task="tu"[n % 2]) for n, role in enumerate(roles)]
    await world.enqueue(*jobs)
    taken = await world.claim_ids(tasks=["t", "u"])
    assert [jobs[n].id for n in (0, 2, 3, 4, 6, 7)] == taken
    assert await world.claim_ids(tasks=["t", "u"]) == []


async def test_a_role_counts_over_all_tasks_of_its_queue_and_no_other(world: World) -> None:
    for queue in ("a", "b"):
        await world.store.change_queue(queue, {"roles": {"FE": 1}})
    await world.enqueue(*[new_job(queue=queue, task=task, role="FE") for queue in "ab" for task in "tuv"])
    taken = await world.claim(10, ["t", "u", "v"])
    assert sorted(job.queue for job in taken) == ["a", "b"]


async def test_each_key_has_its_limit_and_named_ones_their_own(world: World) -> None:
    await world.store.change_queue("default", {"max_per_key": 1, "keys": {"vip": 3, "free": 0}})
    keys = ["x", "x", "y", "vip", "vip", "vip", "vip", "free", "free", "", ""]
    jobs = [new_job(concurrency_key=key) for key in keys]
    await world.enqueue(*jobs)
    assert await world.claim_ids() == [jobs[n].id for n in (0, 2, 3, 4, 5, 7, 8, 9, 10)]


async def test_all_limits_hold_together(world: World) -> None:
    await world.store.change_queue("default", {"max_concurrent": 3, "max_per_key": 2, "roles": {"FE": 1}})
    await world.enqueue(*[new_job(role="FE", concurrency_key="k") for _ in range(3)])
    await world.enqueue(*[new_job(role="BE", concurrency_key="k") for _ in range(3)])
    await world.enqueue(*[new_job() for _ in range(3)])
    taken = [await world.job(job_id) for job_id in await world.claim_ids()]
    assert [(job.role, job.concurrency_key) for job in taken] == [("FE", "k"), ("BE", "k"), ("", "")]


async def test_one_at_a_time_claims_respect_limits_too(world: World) -> None:
    await world.store.change_queue("default", {"max_per_key": 1})
    first, _, third = [await world.make(concurrency_key=key) for key in "aab"]
    assert [await world.claim_ids(1) for _ in range(3)] == [[first], [third], []]


async def test_a_lost_job_frees_its_slot_when_it_is_recovered(world: World) -> None:
    await world.store.change_queue("default", {"max_concurrent": 1})
    lost = await world.make()
    second = await world.make(priority=-1)
    await world.reprioritise(lost, -2, None)
    assert await world.claim_ids() == [lost]
    await world.reprioritise(lost, 0, None)
    await world.clock.advance(LEASE)
    await world.recover(10)
    assert await world.claim_ids() == [second]


async def test_lowered_limit_applies_from_the_next_claim(world: World) -> None:
    await world.store.change_queue("default", {"max_concurrent": 3})
    ids = [await world.make() for _ in range(5)]
    held = await world.claim(10)
    await world.store.change_queue("default", {"max_concurrent": 1})
    assert await world.claim(10) == []
    for job in held[:2]:
        await world.settle(job)
        assert await world.claim(10) == []
    await world.settle(held[2])
    assert await world.claim_ids() == [ids[3]]
    await world.store.change_queue("default", {"max_concurrent": 0})
    assert await world.claim_ids() == [ids[4]]


async def test_changes_are_merged_and_emitted(world: World) -> None:
    await world.store.change_queue("q", {"max_concurrent": 4, "roles": {"FE": 1}})
    record = await world.store.change_queue("q", {"max_concurrent": 5}, paused=True)
    assert record.limits == QueueLimits(max_concurrent=5, roles={"FE": 1})
    assert await world.store.read(queue_rows.queues) == [record]
    events = await world.events()
    assert [event.type for event in events] == ["queue_changed", "queue_changed"]
    assert events[1].queue == "q"
    assert events[1].details["paused"] is True
    assert events[1].details["limits"]["max_concurrent"] == 5


@pytest.mark.parametrize(
    "limits",
    [
        {"max_concurrent": -1},
        {"max_concurrent": "three"},
        {"max_per_key": None},
        {"roles": {"FE": -2}},
        {"roles": ["FE"]},
        {"max_concurent": 3},
    ],
    ids=str,
)
async def test_limits_that_cannot_hold_are_refused(world: World, limits: dict[str, Any]) -> None:
    await world.store.change_queue("default", {"max_concurrent": 2})
    before = await world.store.read(queue_rows.queues)
    with pytest.raises(InvalidInput, match="limits"):
        await world.store.change_queue("default", limits)
    assert await world.store.read(queue_rows.queues) == before
    await world.make()
    assert len(await world.claim(5)) == 1


@pytest.mark.parametrize("name", ["", "x" * 201, "\x00"])
async def test_a_queue_needs_a_name_that_can_be_stored(world: World, name: str) -> None:
    with pytest.raises(InvalidInput, match="queue"):
        await world.store.change_queue(name, paused=True)


@pytest.mark.parametrize("limits", [{}, {"max_concurrent": 5}])
async def test_a_paused_queue_finishes_what_runs_and_starts_nothing(world: World, limits: dict[str, Any]) -> None:
    await world.store.change_queue("default", limits)
    first, second = [await world.make() for _ in range(2)]
    held = await world.claim_this(first)
    await world.store.change_queue("default", paused=True)
    other = await world.make(queue="other")
    assert await world.claim_ids() == [other]
    assert await world.settle(held) is not None
    assert await world.claim_ids() == []
    await world.store.change_queue("default", paused=False)
    assert await world.claim_ids() == [second]
