"""The event stream of an App: in the order of commits, from any id, without end."""

import asyncio
from contextlib import aclosing

import pytest

from hanbeon import App
from hanbeon.domain.events import Event
from hanbeon.errors import InvalidInput
from hanbeon.testing import TestKit


async def take(app: App, after: int, count: int) -> list[Event]:
    found: list[Event] = []
    async with asyncio.timeout(20), aclosing(app.events(after)) as events:  # type: ignore[type-var]
        async for event in events:
            found.append(event)
            if len(found) == count:
                break
    return found


async def test_events_of_a_job_come_in_order(kit: TestKit) -> None:
    @kit.app.task(retries=1, retry_delay=30)
    async def shaky() -> None:
        if kit.clock.now_us() < retry_at:
            raise ValueError("first")

    retry_at = kit.clock.now_us() + 30_000_000
    job = await kit.app.enqueue(shaky, delay=5)
    retry_at += 5_000_000
    await kit.run_all()
    events = await kit.app.events_after()
    assert [event.type for event in events] == [
        "scheduled",
        "promoted",
        "claimed",
        "retried",
        "promoted",
        "claimed",
        "succeeded",
    ]
    assert [event.id for event in events] == list(range(1, 8))
    assert {(event.job_id, event.queue, event.task) for event in events} == {(job.id, "default", "shaky")}
    assert [event.attempt for event in events] == [None, None, 1, 1, None, 2, 2]
    retried = events[3]
    assert retried.details["retry_at"] == retry_at
    assert (retried.details["failure_type"], retried.details["message"]) == ("error", "ValueError: first")


async def test_following_goes_on_with_what_comes_later(kit: TestKit) -> None:
    @kit.app.task
    async def work() -> None: ...

    await kit.app.enqueue(work)
    following = asyncio.create_task(take(kit.app, 0, 4))
    await kit.run_all()
    await kit.app.pause("default")
    assert [event.type for event in await following] == ["enqueued", "claimed", "succeeded", "queue_changed"]


async def test_resuming_by_id_misses_nothing_and_repeats_nothing(kit: TestKit) -> None:
    @kit.app.task
    async def work() -> None: ...

    await kit.app.enqueue_many(work.call() for _ in range(5))
    await kit.run_all()
    everything = await take(kit.app, 0, 15)
    assert [event.id for event in everything] == list(range(1, 16))
    for last in (0, 1, 3, 7, 14):  # Also in the middle of a batch.
        assert await take(kit.app, last, 15 - last) == everything[last:]
    assert await kit.app.events_after(15) == []


async def test_a_live_workers_events_arrive(app: App) -> None:
    @app.task
    async def work() -> None: ...

    following = asyncio.create_task(take(app, 0, 3))
    async with app.worker():
        job = await app.enqueue(work)
        await job.wait(20)
        assert [event.type for event in await following] == ["enqueued", "claimed", "succeeded"]


async def test_two_followers_see_the_same(kit: TestKit) -> None:
    followers = [asyncio.create_task(take(kit.app, 0, 2)) for _ in range(2)]
    await kit.app.pause("a")
    await kit.app.resume("a")
    one, two = await asyncio.gather(*followers)
    assert one == two
    assert [event.details["paused"] for event in one] == [True, False]


@pytest.mark.parametrize("after", [-1, "five", None, 1.5, True])
async def test_an_id_that_is_none(kit: TestKit, after: int) -> None:
    with pytest.raises(InvalidInput, match=r"after: must be the id of an event from 0"):
        await kit.app.events_after(after)
    with pytest.raises(InvalidInput, match=r"after: must be the id of an event from 0"):
        await anext(aiter(kit.app.events(after)))
