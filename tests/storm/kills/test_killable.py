"""Processes and commands stop for real: at a deadline, when cancelled, and when their worker dies or freezes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hanbeon import App
from hanbeon.domain.lifecycle import State
from tests.guarantees import guarantee
from tests.storm import killable
from tests.storm.fleet import Fleet, WorkerProcess, fleet
from tests.storm.journal import Journal, boottime
from tests.storm.killable import GRACE, SETTINGS
from tests.storm.moments import assert_sound, enqueue, rows_of, statuses, until, until_line, until_state
from tests.storm.sizes import LONG, SLACK, TIMEOUT
from tests.storm.stubborn import runs

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.timeout(TIMEOUT),
    pytest.mark.parametrize(
        ("database_url", "task"),
        [
            ("sqlite", "stubborn"),
            ("postgres", "stubborn_command"),
            pytest.param("sqlite", "stubborn_command", marks=pytest.mark.slow),
            pytest.param("postgres", "stubborn", marks=pytest.mark.slow),
        ],
        indirect=["database_url"],
    ),
]
_DEADLINE = 4.0


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[App]:
    """An App without workers, on a database that is brought up to date first."""
    app = killable.make_app(url)
    await app.migrate()
    async with app:
        yield app


async def _processes(journal: Journal, job_id: str) -> list[int]:
    """Return the process of the first attempt and its daemon."""
    began = await until_line(journal, "began", job_id, 1)
    child = await until_line(journal, "child", job_id, 1)
    return [int(began[-1]), int(child[-1])]


async def _until_dead(processes: list[int], within: float) -> float:
    async def ask() -> float | None:
        return None if any(map(runs, processes)) else boottime()

    return await until(f"{processes} are dead", ask, within)


def _assert_no_overlap(journal: Journal) -> None:
    with guarantee():
        assert journal.lines("overlap") == []


@pytest.mark.timing_sensitive
async def test_deadline_kills_the_whole_session_before_the_retry(
    database_url: str, journal: Journal, task: str
) -> None:
    async with _opened(database_url) as app:
        with fleet(database_url, kind="killable", settings=SETTINGS) as workers:
            workers.start(concurrency=1)
            await workers.ready()
            job_id = await enqueue(app, task, journal=str(journal), options={"timeout": _DEADLINE})
            processes = await _processes(journal, job_id)
            began_at = float((await until_line(journal, "began", job_id, 1))[3])
            behind = await enqueue(app, "quick", journal=str(journal))
            # There is one slot: the next job starts when it is free.
            dead_at = await _until_dead(processes, 60)
            # A command's timeout counts from its start, before it can record that it began.
            assert task == "stubborn_command" or dead_at - began_at >= _DEADLINE
            assert dead_at - began_at < _DEADLINE + GRACE + SLACK
            await until_state(app, job_id, State.SUCCEEDED)
            await until_state(app, behind, State.SUCCEEDED)
        *timeouts, last = await statuses(app, job_id)
        assert (set(timeouts), last) == ({"timeout"}, "completed")
        # The deadline is that of later attempts, too, and a slow machine may not even start one within it.
        assert len(timeouts) == 1 or not LONG
        _assert_no_overlap(journal)
        await assert_sound(app)


@pytest.mark.timing_sensitive
async def test_a_cancel_from_another_process_kills_all_of_it(database_url: str, journal: Journal, task: str) -> None:
    async with _opened(database_url) as app:
        with fleet(database_url, kind="killable", settings=SETTINGS) as workers:
            workers.start()
            job_id = await enqueue(app, task, journal=str(journal))
            processes = await _processes(journal, job_id)
            asked_at = boottime()
            assert await app.cancel(job_id) is State.RUNNING

            async def ended() -> tuple[float, list[int]] | None:
                if (await app.store.job(job_id)).state is State.RUNNING:
                    return None
                return boottime(), [pid for pid in processes if runs(pid)]

            told_at, seen = await until("its end", ended)
            assert told_at - asked_at < GRACE + SLACK
            with guarantee():
                assert seen == [], "it is cancelled before all of it is dead"
        assert await statuses(app, job_id) == ["cancelled"]
        await assert_sound(app)


@pytest.mark.timing_sensitive
async def test_killed_workers_sessions_die_and_jobs_run_elsewhere(
    database_url: str, journal: Journal, task: str
) -> None:
    async with _opened(database_url) as app:
        with fleet(database_url, kind="killable", settings=SETTINGS) as workers:
            dying = workers.start()
            job_id = await enqueue(app, task, journal=str(journal))
            processes = await _processes(journal, job_id)
            workers.kill(dying)
            await _until_dead(processes, 1 + SLACK)
            workers.start()
            await until_state(app, job_id, State.SUCCEEDED)
        assert await statuses(app, job_id) == ["lost", "completed"]
        _assert_no_overlap(journal)
        await assert_sound(app)


@pytest.mark.timing_sensitive
async def test_work_of_a_frozen_worker_is_dead_before_its_lease_ends(
    database_url: str, journal: Journal, task: str
) -> None:
    async with _opened(database_url) as app:
        with fleet(database_url, kind="killable", settings=SETTINGS) as workers:
            frozen = workers.start()
            job_id = await enqueue(app, task, journal=str(journal))
            processes = await _processes(journal, job_id)
            frozen.freeze()
            lease_ends = await _lease_end(app, job_id)
            assert await _until_dead(processes, 60) < lease_ends, "its lease had ended"
            workers.start()
            await until_state(app, job_id, State.SUCCEEDED)
            frozen.thaw()
            await _still_works(app, workers, frozen)
        assert await statuses(app, job_id) == ["lost", "completed"]
        _assert_no_overlap(journal)
        await assert_sound(app)


async def _lease_end(app: App, job_id: str) -> float:
    """Return the end of the lease in `boottime`, erring early."""
    asked_at = boottime()
    sql = "SELECT locked_until - hanbeon.now() AS left_us FROM hanbeon.jobs WHERE id = $1 AND state = 'running'"
    (row,) = await rows_of(app.store, sql, job_id)
    return asked_at + float(row["left_us"]) / 1_000_000


async def _still_works(app: App, workers: Fleet, thawed: WorkerProcess) -> None:
    """Check that the thawed worker runs a job again, without the others."""
    for other in [each for each in workers.at_work if each is not thawed]:
        workers.kill(other)
    await until_state(app, await enqueue(app, "quick"), State.SUCCEEDED)
