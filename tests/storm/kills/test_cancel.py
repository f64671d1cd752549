"""A cancel reaches work on another process within a second, whether or not anybody wakes it."""

from __future__ import annotations

from typing import Any

import pytest

from hanbeon.domain.lifecycle import State
from tests.storm.fleet import fleet, opened
from tests.storm.journal import Journal, boottime
from tests.storm.moments import assert_sound, enqueue, statuses, until_line, until_state
from tests.storm.sizes import SLACK, TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]

# The promise is one second, and nobody polls for hours.
_SOON = 1 + SLACK
_HOURS = 36_000.0
_NOBODY = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.mark.timing_sensitive
async def test_a_cancel_stops_work_on_another_process(database_url: str, journal: Journal) -> None:
    await _cancel_in_time(database_url, journal, poll=_HOURS, lease=_HOURS)


@pytest.mark.timing_sensitive
async def test_a_cancel_arrives_without_wake_ups_too(postgres_url: str, journal: Journal) -> None:
    await _cancel_in_time(postgres_url, journal, listen_url=_NOBODY, poll=0.2)


async def _cancel_in_time(url: str, journal: Journal, **settings: Any) -> None:
    async with opened(url) as app:
        with fleet(url, settings=settings) as workers:
            workers.start()
            for task in ("first_try_hangs", "threaded_watch"):
                job_id = await enqueue(app, task, journal=str(journal))
                await until_line(journal, "began", job_id, 1)
                asked_at = boottime()
                assert await app.cancel(job_id) is State.RUNNING
                ended = await until_line(journal, "ended", job_id, 1)
                assert float(ended[3]) - asked_at < _SOON
                await until_state(app, job_id, State.CANCELLED)
                assert await statuses(app, job_id) == ["cancelled"]
        await assert_sound(app)
