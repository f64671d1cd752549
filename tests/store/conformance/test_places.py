"""A claim that goes on where the last one left off takes what a whole look would have taken."""

from typing import Any

import pytest

from hanbeon.store.operations.claim import ClaimAnswer, ClaimRequest, LanePosition
from tests.store.world import INSTANCE, LEASE_US, World, new_job


async def claim(world: World, want: int, behind: LanePosition | None = None) -> ClaimAnswer:
    return await world.store.claim(ClaimRequest(INSTANCE, ["t"], want, LEASE_US, 0, behind))


async def test_goes_on_where_the_last_one_left_off_in_the_same_order(world: World) -> None:
    jobs = [new_job(priority=n % 3, urgent=n % 4 == 0) for n in range(24)]
    await world.enqueue(*jobs)
    order = sorted(jobs, key=lambda job: (not job.urgent, job.priority))
    place, taken, more = None, [], []
    for _ in range(5):
        answer = await claim(world, 5, place)
        place = answer.place
        taken += [job.id for job in answer.jobs]
        more.append(answer.more)
    assert taken == [job.id for job in order]
    assert more == [True, True, True, True, False]


async def test_scan_finds_jobs_before_the_remembered_place(world: World) -> None:
    await world.enqueue(*[new_job() for _ in range(6)])
    answer = await claim(world, 2)
    first = await world.make(urgent=True)
    assert first not in [job.id for job in (await claim(world, 2, answer.place)).jobs]
    assert (await claim(world, 1)).jobs[0].id == first


async def test_a_place_with_nothing_behind_it_is_a_whole_look(world: World) -> None:
    await world.enqueue(*[new_job() for _ in range(2)])
    answer = await claim(world, 2)
    assert answer.place is not None
    other = await world.make(queue="other")
    front = await world.make(urgent=True)
    taken = await claim(world, 5, answer.place)
    assert {job.id for job in taken.jobs} == {other, front}


@pytest.mark.parametrize("change", [{"paused": True}, {"limits": {"max_concurrent": 1}}])
async def test_remembered_place_respects_new_pauses_and_limits(world: World, change: dict[str, Any]) -> None:
    await world.enqueue(*[new_job() for _ in range(6)])
    answer = await claim(world, 2)
    assert answer.place is not None
    await world.store.change_queue("default", **change)
    assert (await claim(world, 2, answer.place)).jobs == []


async def test_only_a_lane_that_is_alone_is_remembered(world: World) -> None:
    await world.enqueue(*[new_job(queue=queue) for queue in ("a", "b") for _ in range(4)])
    assert (await claim(world, 2)).place is None
    await world.store.change_queue("b", paused=True)
    place = (await claim(world, 2)).place
    assert place is not None
    await world.store.change_queue("b", paused=False)
    await claim(world, 1, place)
    assert {job.queue for job in (await claim(world, 10)).jobs} == {"b"}


async def test_lane_whose_turn_came_before_others_is_not_remembered(world: World) -> None:
    """A single free slot takes the first queue's job: the others are next, and not that queue for a second."""
    await world.enqueue(*[new_job(queue=queue) for queue in ("a", "b") for _ in range(4)])
    answer = await claim(world, 1)
    assert (len(answer.jobs), answer.place) == (1, None)
