"""Lanes without jobs are pruned, and no job is ever written into one that is gone."""

from __future__ import annotations

from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.prune import drop_unused_lanes
from tests.store.world import World

DAY = 86_400
DAY_US = DAY * 1_000_000


async def _lanes(world: World) -> list[str]:
    return sorted(row[0] for row in await world.sql("SELECT concurrency_key FROM hanbeon.lane"))


async def _prune(world: World) -> None:
    await world.fold()
    await world.store.prune(DAY_US, 1_000)
    await world.store.write(lambda tx: drop_unused_lanes(tx, DAY_US, 1_000))


async def test_lanes_without_jobs_go_after_their_last_job(world: World) -> None:
    for number in range(5):
        await world.finish(await world.make(concurrency_key=f"customer-{number}"))
    waiting = await world.make(concurrency_key="waits", delay_us=90 * DAY_US)
    await world.clock.advance(DAY + 3_600)
    await _prune(world)
    assert len(await _lanes(world)) == 6, "its jobs are gone, but a cache may still rely on it"
    await world.clock.advance(DAY)
    await _prune(world)
    assert await _lanes(world) == ["waits"]
    assert await world.state(waiting) is State.PENDING


async def test_lane_that_is_gone_is_made_again(world: World) -> None:
    """By a process that had it in its cache."""
    await world.finish(await world.make(concurrency_key="a"))
    await world.clock.advance(2 * DAY + 3_600)
    await _prune(world)
    assert await _lanes(world) == []
    again = await world.make(concurrency_key="a")
    assert await _lanes(world) == ["a"]
    assert (await world.claim())[0].id == again


async def test_use_of_a_lane_is_written_down(world: World) -> None:
    await world.finish(await world.make(concurrency_key="a"))
    for _ in range(4):
        await world.clock.advance(DAY)
        await _prune(world)
        await world.finish(await world.make(concurrency_key="a"))
    await world.clock.advance(DAY + 1)
    await _prune(world)
    assert await _lanes(world) == ["a"]
