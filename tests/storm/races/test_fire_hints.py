"""A schedule that is due soon wakes sleeping pollers, also of other instances; a lost hint costs at most one poll."""

from __future__ import annotations

import datetime as dt
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from hanbeon import App
from hanbeon.clock import MICROS
from hanbeon.store.operations.queries import now_us
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.service import Schedules
from tests.storm.fleet import WorkerProcess
from tests.storm.journal import Journal
from tests.storm.moments import until
from tests.storm.schedules.storm import Storm, storm, worker_options
from tests.storm.sizes import TIMEOUT

pytestmark = pytest.mark.timeout(TIMEOUT)

# The poll is so rare that only a hint explains a fire that is handled soon.
HOURS = 7_200.0


@asynccontextmanager
async def _sleeping(url: str, folder: Path, poll: float) -> AsyncIterator[tuple[Storm, WorkerProcess]]:
    """Start a worker process whose poller sleeps, and open an App that has none."""
    options = worker_options({"poll": poll, "lease": 20.0}, alone=1)
    async with storm(url, Journal(folder / "journal"), random.Random(1)) as run:
        with WorkerProcess.start(url, **options) as worker:
            worker.wait_ready()
            yield run, worker


async def _in(app: App, seconds: float) -> schemas.Schedule:
    """A schedule that is due then, by the database's clock."""
    at = await app.store.read(now_us) + round(seconds * MICROS)
    moment = dt.datetime.fromtimestamp(at / MICROS, dt.UTC).isoformat(timespec="milliseconds")
    args = {"label": "soon", "journal": os.devnull}
    return await Schedules(app).create("alone0", run_at=moment, args=args, overlap="allow")


async def _until_fired(app: App, schedule: schemas.Schedule) -> schemas.Fire:
    async def ask() -> schemas.Fire | None:
        found = (await Schedules(app).fires(schedule.id)).items
        return found[0] if found else None

    return await until("the fire is decided", ask, 30)


async def test_a_new_schedule_wakes_the_poller_of_another_instance(database_url: str, tmp_path: Path) -> None:
    async with _sleeping(database_url, tmp_path, HOURS) as (run, _):
        for _ in range(2):
            fire = await _until_fired(run.app, await _in(run.app, 3))
            assert fire.outcome == "created"


async def test_a_change_wakes_the_poller_of_another_instance(database_url: str, tmp_path: Path) -> None:
    async with _sleeping(database_url, tmp_path, HOURS) as (run, _):
        schedules = Schedules(run.app)
        later = await _in(run.app, 3_600)
        sooner = await _in(run.app, 1_800)
        await schedules.change(later.id, run_at=None, cron="* * * * * *")
        assert (await _until_fired(run.app, later)).outcome == "created"
        assert (await schedules.fires(sooner.id)).items == []
        await schedules.pause(later.id)
        fired = len((await schedules.fires(later.id)).items)
        await schedules.resume(later.id)

        async def more() -> bool | None:
            return True if len((await schedules.fires(later.id)).items) > fired else None

        await until("it fires again", more, 30)


async def test_behind_a_lost_hint_a_poll_sees_to_it(database_url: str, tmp_path: Path) -> None:
    # The poller alone would look again after a minute: the loop that polls for due jobs wakes it.
    async with _sleeping(database_url, tmp_path, 10.0) as (run, _):
        with patch.object(run.app.store.notifier, "send", lambda hints: None):
            fire = await _until_fired(run.app, await _in(run.app, 3))
        assert fire.outcome == "created"
