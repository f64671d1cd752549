"""A job leaves nothing in memory that waits for the cycle collector."""

import gc
from collections.abc import Iterator

import pytest

from hanbeon import Context
from hanbeon.engine.attempt import Attempt
from hanbeon.testing import TestKit

JOBS = 20


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def attempts() -> int:
    return sum(isinstance(each, Attempt) for each in gc.get_objects())


@pytest.mark.usefixtures("no_collector")
async def test_attempts_are_gone_when_they_have_ended(kit: TestKit) -> None:
    """Or the collector goes through all that jobs left behind, again and again."""

    @kit.app.task
    async def add(ctx: Context, number: int) -> int:
        return number + ctx.attempt

    @kit.app.task
    def add_in_a_thread(number: int) -> int:
        return number + 1

    before = attempts()
    for task in (add, add_in_a_thread):
        await kit.app.enqueue_many(task.call(number=number) for number in range(JOBS))
        assert await kit.tick() == JOBS
        assert attempts() == before, task.name
