"""A worker that has run jobs of every nasty kind has all its slots free at the end."""

import asyncio
import logging
import random
from collections.abc import Iterator

import msgspec
import pytest

from hanbeon import State
from hanbeon.domain.lifecycle import AttemptStatus
from tests.engine import nasty
from tests.processes.sizes import short_on

SLOTS = 8
WAIT = 1_800.0
_ENDED = {State.SUCCEEDED, State.FAILED}


@pytest.fixture
def silent(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.CRITICAL):
        yield


@short_on("sqlite")
async def test_all_slots_are_free_after_nasty_jobs(database_url: str, share: float, silent: None) -> None:
    chance = random.Random(7)
    cheap = [each for each in nasty.JOBS if each.task.name not in nasty.EXPENSIVE]
    dear = [each for each in nasty.JOBS if each not in cheap]
    # In the full case each kind many times, and those that start a process are a fifth.
    jobs = chance.sample(dear, 24) if share < 1.0 else dear + chance.choices(dear, k=2_000 - len(dear))
    jobs += cheap if share < 1.0 else cheap + chance.choices(cheap, k=8_000 - len(cheap))
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
            for job in made:
                record = await job.wait(WAIT)
                attempts = await job.attempts()
                assert record.state in _ENDED, record
                assert [each.status for each in attempts] != [AttemptStatus.LOST], record
            while len(worker.attempts):  # noqa: ASYNC110 - a moment: the last end is being reported
                await asyncio.sleep(0.01)
            assert worker.main.running == set()
            last = await app.enqueue_many(nasty.meet.call(number, SLOTS) for number in range(SLOTS))
            assert [await job.result(WAIT) for job in last] == list(range(SLOTS))
