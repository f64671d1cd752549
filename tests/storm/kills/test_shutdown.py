"""SIGTERM: jobs that can finish do, the rest is handed back to other workers, and the exit code is 0."""

from __future__ import annotations

import asyncio

import pytest

from hanbeon.domain.lifecycle import State
from tests.storm.fleet import QUICK, fleet, opened
from tests.storm.journal import Journal, boottime
from tests.storm.moments import assert_sound, enqueue, statuses, until_line, until_state
from tests.storm.sizes import TIMEOUT

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(TIMEOUT)]


@pytest.mark.timing_sensitive
async def test_sigterm_finishes_jobs_or_hands_them_back(database_url: str, journal: Journal) -> None:
    gate = journal.path.with_name("gate")
    async with opened(database_url) as app:
        short = await enqueue(app, "gated", journal=str(journal), gate=str(gate))
        endless = await enqueue(app, "first_try_hangs", journal=str(journal))
        with fleet(database_url, settings=QUICK | {"shutdown_grace": 6.0}, concurrency=2) as workers:
            leaving = workers.start()
            for job_id in (short, endless):
                await until_line(journal, "began", job_id, 1)
            waiting = await enqueue(app, "first_try_hangs", journal=str(journal))
            leaving.terminate()
            gate.with_suffix(".1").touch()
            assert await asyncio.to_thread(leaving.wait) == 0, leaving.output
            workers.ended(leaving)

            assert await statuses(app, short) == ["completed"]
            assert await statuses(app, endless) == ["released"]
            record = await app.store.job(endless)
            assert (record.state, record.retry_count) == (State.READY, 0)
            untouched = await app.store.job(waiting)
            assert (untouched.state, untouched.fence) == (State.READY, 0), "it claimed after SIGTERM"

            workers.start()
            await until_state(app, endless, State.SUCCEEDED)
            assert await statuses(app, endless) == ["released", "completed"]
            await until_line(journal, "began", waiting, 1)
        await assert_sound(app)


@pytest.mark.timing_sensitive
async def test_a_second_signal_hands_everything_back_at_once(database_url: str, journal: Journal) -> None:
    async with opened(database_url) as app:
        endless = await enqueue(app, "first_try_hangs", journal=str(journal))
        with fleet(database_url, settings=QUICK | {"shutdown_grace": 3600.0}) as workers:
            leaving = workers.start()
            await until_line(journal, "began", endless, 1)
            leaving.terminate()
            await asyncio.to_thread(leaving.wait_for, lambda line: "worker_stopping" in line, "worker_stopping")
            asked_at = boottime()
            leaving.terminate()
            assert await asyncio.to_thread(leaving.wait) == 0, leaving.output
            workers.ended(leaving)
            assert boottime() - asked_at < 30
        assert await statuses(app, endless) == ["released"]
        record = await app.store.job(endless)
        assert (record.state, record.retry_count) == (State.READY, 0)
        await assert_sound(app)
