"""Hints of moves that let jobs start: the pools of built-in tasks are woken for such jobs, and for no others."""

from collections.abc import Iterable

import pytest

from hanbeon.surfaces.workflows.vocabulary import QUEUE, TASK
from tests.store.world import World, new_job

_CLAIMS = {"work", "job"}
of_each_task = pytest.mark.parametrize(("task", "hint"), [("t", "job"), (TASK, "work")])


@pytest.fixture
def sent(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hints about jobs to claim, in the order in which they were sent."""
    found: list[str] = []

    def send(hints: Iterable[str]) -> None:
        found.extend(sorted(_CLAIMS.intersection(hints)))

    monkeypatch.setattr(world.store.notifier, "send", send)
    # Of a statement that notifies by itself, PostgreSQL's listeners would hear.
    monkeypatch.setattr(world.store.notifier, "piggyback", lambda hints: None, raising=False)
    return found


@of_each_task
async def test_enqueue_wakes_pools_of_its_task(world: World, sent: list[str], task: str, hint: str) -> None:
    await world.enqueue(new_job(task=task))  # It makes the lane.
    await world.enqueue(new_job(task=task))
    await world.enqueue(*[new_job(task=task) for _ in range(2)])
    await world.enqueue(new_job(task=task), new_job())
    assert sent == [hint] * 4


@of_each_task
async def test_promotion_wakes_pools_of_its_task(world: World, sent: list[str], task: str, hint: str) -> None:
    await world.make(task=task, delay_us=1_000_000)
    assert sent == []
    await world.clock.advance(2)
    await world.promote(10)
    assert sent == [hint]


@of_each_task
async def test_success_wakes_pools_of_dependents(world: World, sent: list[str], task: str, hint: str) -> None:
    first = await world.make()
    await world.make(task=task, depends_on=(first,))
    sent.clear()
    await world.finish(first)
    assert sent == [hint]


@pytest.mark.parametrize(("queue", "hint"), [("default", "job"), (QUEUE, "work")])
async def test_freed_slot_wakes_pools_of_its_queue(world: World, sent: list[str], queue: str, hint: str) -> None:
    """Runs of workflows share their queue with the jobs of registered tasks that they wait for."""
    await world.make(queue=queue)
    await world.store.change_queue(queue, {"max_concurrent": 1})
    (held,) = await world.claim()
    sent.clear()
    await world.settle(held)
    assert sent == [hint]
