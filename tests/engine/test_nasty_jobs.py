"""A worker that has run jobs of every nasty kind has all its slots free at the end."""

import asyncio
import logging
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from hanbeon import JobRequest, State
from tests.engine import nasty
from tests.storm.moments import rows_of
from tests.storm.sizes import short_on, sized

SLOTS = 8
WAIT = 1_800.0
_ENDED = {State.SUCCEEDED, State.FAILED}
_LOST = "SELECT job FROM hanbeon.attempt GROUP BY job HAVING count(*) = 1 AND min(status) = 'lost'"
"""Jobs of which the worker lost the only attempt."""


@pytest.fixture
def silent(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.CRITICAL):
        yield


def _many(chance: random.Random, kinds: list[JobRequest[Any]], count: int) -> list[JobRequest[Any]]:
    return kinds + chance.choices(kinds, k=count - len(kinds))


@short_on("sqlite")
async def test_all_slots_are_free_after_nasty_jobs(database_url: str, share: float, silent: None) -> None:
    chance = random.Random(7)
    cheap = [each for each in nasty.JOBS if each.task.name not in nasty.EXPENSIVE]
    dear = [each for each in nasty.JOBS if each not in cheap]
    if share < 1.0:
        jobs = chance.sample(dear, 24) + cheap
    else:
        # 2,000, or 100,000 where the run may be long: an eighth need a process, and those that end one, which is half a
        # second, are few.
        size = sized(1, 50)
        deadly = [each for each in dear if each.task is nasty.die]
        harmless = [each for each in dear if each not in deadly]
        jobs = deadly * size + _many(chance, harmless, 250 * size) + _many(chance, cheap, 1_750 * size)
    chance.shuffle(jobs)
    app = nasty.app
    app.settings = app.settings.model_copy(
        update={"database_url": database_url, "concurrency": SLOTS, "stop_grace": 0.5, "processes": 2}
    )
    nasty.meeting.clear()
    async with app:
        # Each a job of its own: a request that is used twice would have the same id.
        made = await app.enqueue_many(each.task.call(**msgspec.json.decode(each.args)) for each in jobs)
        async with app.worker() as worker, asyncio.timeout(WAIT):
            while sum([(await app.counts())[state] for state in _ENDED]) < len(made):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.1)
            assert not await rows_of(app.store, _LOST)
            while len(worker.attempts):  # noqa: ASYNC110 - a moment: the last end is being reported
                await asyncio.sleep(0.01)
            assert worker.main.running == set()
            last = await app.enqueue_many(nasty.meet.call(number, SLOTS) for number in range(SLOTS))
            assert [await job.result(WAIT) for job in last] == list(range(SLOTS))
