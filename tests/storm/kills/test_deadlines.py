"""Jobs of a killed worker are retried, timed out or failed, as their tasks define."""

from __future__ import annotations

import pytest

from hanbeon import App
from hanbeon.domain.lifecycle import State
from hanbeon.domain.retry import FailureType
from tests.storm.fleet import fleet, opened
from tests.storm.journal import Journal
from tests.storm.moments import assert_sound, enqueue, rows_of, statuses, until, until_line, until_state
from tests.storm.sizes import TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]


@pytest.mark.timing_sensitive
async def test_killed_workers_jobs_follow_their_deadlines_and_tasks(database_url: str, journal: Journal) -> None:
    async with opened(database_url) as app:
        overdue = await enqueue(app, "limited", journal=str(journal))
        in_time = await enqueue(app, "limited", journal=str(journal), options={"timeout": 3600.0})
        once = await enqueue(app, "at_most_once", journal=str(journal))
        with fleet(database_url) as workers:
            dying = workers.start()
            for job_id in (overdue, in_time, once):
                await until_line(journal, "began", job_id, 1)
            workers.kill(dying)
            await until("a deadline has passed", lambda: _is_overdue(app, overdue))
            workers.start()
            await until_state(app, overdue, State.SUCCEEDED)
            await until_state(app, in_time, State.SUCCEEDED)
            failed = await until_state(app, once, State.FAILED)
        assert await statuses(app, overdue) == ["timeout", "completed"]
        assert await statuses(app, in_time) == ["lost", "completed"]
        assert await statuses(app, once) == ["lost"]
        assert failed.failure_type == FailureType.LOST
        assert journal.count("began")[once] == 1
        await assert_sound(app)


async def _is_overdue(app: App, job_id: str) -> bool | None:
    sql = "SELECT 1 FROM hanbeon.jobs WHERE id = $1 AND deadline_at < hanbeon.now()"
    return True if await rows_of(app.store, sql, job_id) else None
