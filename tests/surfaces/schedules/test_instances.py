"""Several instances at once: one decides a fire, one of many requests runs a task, and all survives a restart."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hanbeon import App
from hanbeon.errors import ExecutionUnfinished
from hanbeon.service.verify import render
from hanbeon.store.operations.tasks import find_tasks, lock_tasks
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.poller import SchedulePoller
from hanbeon.surfaces.schedules.service import Schedules
from hanbeon.surfaces.verify import verify
from tests.databases.locks import somebody_waits
from tests.guarantees import guarantee


def _with_tasks(app: App) -> App:
    @app.task
    async def report() -> None: ...

    return app


@pytest.fixture
async def apps(app: App) -> AsyncIterator[list[App]]:
    """Three instances on one database."""
    others = [App(app.settings.database_url) for _ in range(2)]
    for other in others:
        await _with_tasks(other).open()
    yield [_with_tasks(app), *others]
    for other in others:
        await other.close()


async def test_instances_that_look_at_once_decide_each_fire_once(apps: list[App]) -> None:
    schedules = Schedules(apps[0])
    made = [
        await schedules.create(task="report", cron="* * * * * *", overlap=overlap)
        for overlap in ("allow", "allow", "skip")
    ]

    async def decided() -> int:
        return min([len((await schedules.fires(each.id)).items) for each in made])

    async with asyncio.timeout(60):
        while await decided() < 3:
            await asyncio.gather(*(SchedulePoller(app.store, app.settings).run_once() for app in apps))
    fires = [fire for each in made[:2] for fire in (await schedules.fires(each.id)).items]
    listed = [await schedules.executions(schedule=each.id, limit=1_000) for each in made[:2]]
    report = await verify(apps[0].store)
    with guarantee():
        assert all(fire.outcome.value == "created" for fire in fires)
        assert len(fires) <= sum(len(page.items) for page in listed)
        assert report.sound, render(report)


async def test_of_many_runs_by_hand_at_once_one_is_accepted(apps: list[App]) -> None:
    async def run(app: App) -> schemas.Execution | None:
        try:
            return await Schedules(app).run("report")
        except ExecutionUnfinished:
            return None

    answers = await asyncio.gather(*(run(app) for app in apps for _ in range(5)))
    (accepted,) = [answer for answer in answers if answer is not None]
    (only,) = (await Schedules(apps[0]).executions()).items
    assert only.execution_id == accepted.execution_id


async def test_tasks_schedules_and_executions_survive_their_instance(database_url: str) -> None:
    first = _with_tasks(App(database_url))
    await first.migrate()
    async with first as app:
        made = await Schedules(app).create(task="report", cron="@daily", name="kept")
        run = await Schedules(app).run("report")
    async with App(database_url) as other:
        schedules = Schedules(other)
        assert await schedules.get(made.id) == made
        assert (await schedules.execution(run.execution_id)).status.value == "PENDING"
        assert (await schedules.task("report")).task_id == "report"
        changed = await schedules.change(made.id, cron="@hourly")
        assert changed.next_fire_at is not None, "without the code of its task, too"


@asynccontextmanager
async def _at_it(app: App, look: Callable[[Tx], Awaitable[object]]) -> AsyncIterator[None]:
    """Hold the locks of `look` in a transaction that lasts until the end of the block."""
    looked, may_end = asyncio.Event(), asyncio.Event()

    async def stay(tx: Tx) -> None:
        await look(tx)
        looked.set()
        await may_end.wait()

    looking = asyncio.create_task(app.store.write(stay))
    try:
        await looked.wait()
        yield
    finally:
        may_end.set()
        await looking


@pytest.fixture
async def on_postgres(postgres_url: str) -> AsyncIterator[App]:
    app = _with_tasks(App(postgres_url))
    await app.migrate()
    async with app:
        yield app


async def test_manual_run_waits_for_the_lock_on_its_task(
    on_postgres: App,
) -> None:
    schedules = Schedules(on_postgres)
    await schedules.create(task="report", cron="0 0 1 1 *")

    async def look(tx: Tx) -> None:
        await lock_tasks(tx, [each.id for each in await find_tasks(tx, ["report"])])

    async with _at_it(on_postgres, look):
        running = asyncio.create_task(schedules.run("report"))
        assert await somebody_waits(on_postgres.settings.database_url, running)
    assert (await running).status == "PENDING"


async def test_locked_schedule_is_skipped_by_pollers_but_not_changes(
    on_postgres: App,
) -> None:
    schedules = Schedules(on_postgres)
    made = await schedules.create(task="report", cron="* * * * * *")

    async def due(tx: Tx) -> Sequence[Any]:
        return await tx.fetch("due_schedules", 10)

    async with asyncio.timeout(60):
        while not await on_postgres.store.write(due):
            pass
    async with _at_it(on_postgres, due):
        assert await on_postgres.store.write(due) == []
        changing = asyncio.create_task(schedules.change(made.id, cron="0 0 1 1 *"))
        assert await somebody_waits(on_postgres.settings.database_url, changing)
    assert (await changing).cron == "0 0 1 1 *"
