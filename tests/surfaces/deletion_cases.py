"""Everything that is created under something that can be deleted: its arrangement, creation, and deletion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from hanbeon import App
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.surfaces.schedules.poller import SchedulePoller
from tests.surfaces.chains.chain_kit import LIBRARY, job
from tests.surfaces.exports.export_kit import SAMPLE
from tests.surfaces.offices.office_kit import SESSIONS

_OTHER = {"url": "https://example.org/other", "secret": "s3cret" * 6}
_WAIT = {"type": "wait", "minutes": 5}
_DAILY = {"mode": "recurring", "recurrence": {"frequency": "daily", "time": "09:00"}}
_EVERY_SECOND = "* * * * * *"


class Case(NamedTuple):
    """`arrange` returns the owner and what else `create` needs; `stays`: what was created outlives its owner."""

    arrange: Callable[[App], Awaitable[tuple[Any, Any]]]
    create: Callable[[App, Any, Any], Awaitable[Any]]
    delete: Callable[[App, Any], Awaitable[None]]
    stays: bool = False


async def _office(app: App) -> tuple[Any, Any]:
    """An office with a cancelled job, whose lane is known."""
    hook = {"url": "https://example.org/hook", "secret": "s3cret" * 6}
    office = await app.offices.create(name="x", sessions=SESSIONS, webhooks=[hook])
    (made,) = (await app.offices.create_jobs(office.id, jobs=[{}])).jobs
    await app.cancel(made.id)
    return office, made.id


async def _workflow(app: App) -> tuple[Any, Any]:
    """A workflow with a cancelled run."""
    made = await app.workflows.create(name="w", schedule_config=_DAILY, steps=[_WAIT])
    run = await app.workflows.execute(made.id)
    await app.workflows.cancel(made.id, run.run_id)
    return made, run.run_id


async def _active(app: App) -> tuple[Any, Any]:
    """An active workflow, whose next run is registered."""
    return await app.workflows.create(name="w", schedule_config=_DAILY, steps=[_WAIT], status="active"), None


async def _chain(app: App) -> tuple[Any, Any]:
    return await app.chains.create(queue_library=LIBRARY, jobs=[job("a")]), None


async def _schedule(app: App) -> tuple[Any, Any]:
    """A schedule that is due."""
    made = await app.schedules.create(task="hold", cron=_EVERY_SECOND)
    table = "hanbeon.schedule" if isinstance(app.store.database, PostgresDatabase) else "hanbeon_schedule"
    instants = ("considered_to", "timed_since", "due_at", "next_fire_at")
    passed = ", ".join(f"{each} = {each} - 5000000" for each in instants)
    async with app.store.transaction() as tx:
        await tx.execute(f"UPDATE {table} SET {passed} WHERE id = $1", made.id)
    return made, None


async def _replay(app: App) -> tuple[Any, Any]:
    return await app.replays.upload(SAMPLE), None


async def _fire(app: App, *_: Any) -> None:
    await SchedulePoller(app.store, app.settings).run_once()


def _of_office(create: Callable[[App, Any, Any], Awaitable[Any]]) -> Case:
    return Case(_office, create, lambda app, office: app.offices.delete(office.id))


def _of_workflow(create: Callable[[App, Any, Any], Awaitable[Any]], arrange: Any = _workflow) -> Case:
    return Case(arrange, create, lambda app, workflow: app.workflows.delete(workflow.id))


def _of_chain(create: Callable[[App, Any, Any], Awaitable[Any]]) -> Case:
    return Case(_chain, create, lambda app, chain: app.chains.delete(chain))


def _of_schedule(create: Callable[[App, Any, Any], Awaitable[Any]]) -> Case:
    return Case(_schedule, create, lambda app, schedule: app.schedules.delete(schedule.id), stays=True)


CASES = {
    "office: a job": _of_office(lambda app, office, _: app.offices.create_jobs(office.id, jobs=[{}])),
    "office: jobs": _of_office(lambda app, office, _: app.offices.create_jobs(office.id, jobs=[{}, {}])),
    "office: retry": _of_office(lambda app, office, job_id: app.offices.retry(office.id, job_id)),
    "office: retry as a job": _of_office(lambda app, _, job_id: app.retry(job_id)),
    "office: bulk retry": _of_office(
        lambda app, office, _: app.engine.bulk(action="retry", filter={"queue": f"office:{office.id}"})
    ),
    "office: webhooks": _of_office(lambda app, office, _: app.offices.change(office.id, webhooks=[_OTHER])),
    "office: test of a webhook": _of_office(
        lambda app, office, _: app.offices.test_webhook(office.id, office.webhooks[0].id)
    ),
    "workflow: execute": _of_workflow(lambda app, workflow, _: app.workflows.execute(workflow.id)),
    "workflow: retry": _of_workflow(lambda app, workflow, run_id: app.workflows.retry(workflow.id, run_id)),
    "workflow: activate": _of_workflow(lambda app, workflow, _: app.workflows.activate(workflow.id)),
    "workflow: change": _of_workflow(lambda app, workflow, _: app.workflows.change(workflow.id, status="active")),
    "workflow: register": _of_workflow(lambda app, *_: app.workflows.cron(), _active),
    "chain: job": _of_chain(lambda app, chain, _: app.chains.enqueue(chain, **job("b"))),
    "chain: run": _of_chain(lambda app, chain, _: app.chains.run(chain)),
    "schedule: fire": _of_schedule(_fire),
    "schedule: change": _of_schedule(lambda app, schedule, _: app.schedules.change(schedule.id, cron="0 0 1 1 *")),
    "schedule: run of its task": _of_schedule(lambda app, *_: app.schedules.run("hold")),
    "replay: export": Case(
        _replay,
        lambda app, replay, _: app.exports.export_mp4(replay, width=160, height=90),
        lambda app, replay: app.replays.delete(replay),
    ),
}
