"""One test body over an installation: its database, opened by an App, and a server in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hanbeon import App, ChainJob, Installation, connect
from hanbeon.client.installation import RemoteInstallation, fill_of, methods_of, positional_fields
from hanbeon.client.problems import Problem, error_of
from hanbeon.domain.lifecycle import State
from hanbeon.errors import Changed, InvalidInput, JobNotFound, OfficeNotFound, ScheduleNotFound, WrongState
from hanbeon.surfaces.engine import schemas
from hanbeon.surfaces.registry import SURFACES
from hanbeon.surfaces.surface import load
from hanbeon.wait import until
from tests.server.client import serving

_NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(params=["database", "server"])
async def jobs(app: App, request: pytest.FixtureRequest) -> AsyncIterator[Installation]:
    @app.task
    async def greet(name: str) -> str:
        return f"Hello, {name}!"

    async with serving(app, work=True) as server:
        url = server.url if request.param == "server" else app.settings.database_url
        async with connect(url) as opened:
            await until(opened.engine.instances, lambda page: any("greet" in each.tasks for each in page.items))
            yield opened


async def test_jobs_and_queues(jobs: Installation) -> None:
    made = await jobs.engine.enqueue(task="greet", args={"name": "Ada"}, delay=3600.0, priority=3)
    assert (type(made), made.state, made.args) == (schemas.EngineJob, State.PENDING, {"name": "Ada"})
    page = await jobs.engine.jobs(state="pending", limit=1)
    assert [each.id for each in page.items] == [made.id]
    assert (await jobs.engine.reprioritise(made.id, urgent=True)).urgent
    cancelled = await jobs.engine.cancel(made.id)
    assert (cancelled.job.state, cancelled.stopping) == (State.CANCELLED, False)
    with pytest.raises(WrongState, match=made.id):
        await jobs.engine.reprioritise(made.id, priority=1)
    with pytest.raises(JobNotFound, match=_NOBODY):
        await jobs.engine.job(_NOBODY)
    with pytest.raises(InvalidInput, match="limit: must be"):
        await jobs.engine.jobs(limit=0)
    changed = await jobs.engine.change_queue("default", max_concurrent=2, paused=True)
    assert (changed.max_concurrent, changed.paused) == (2, True)
    events = jobs.engine.follow()
    async with contextlib.aclosing(events):  # type: ignore[type-var]  # a generator, whatever the stub says
        async for event in events:
            if event.job_id == made.id and event.type == "cancelled":
                break


async def test_offices_and_schedules(jobs: Installation) -> None:
    office = await jobs.offices.create(name="Seoul", sessions={"default": "greet"})
    batch = await jobs.offices.create_jobs(office.id, jobs=[{"key": "a", "args": {"name": "Bob"}}])
    assert [each.key for each in (await jobs.offices.jobs(office.id)).items] == ["a"]
    assert (await jobs.offices.job(office.id, batch.jobs[0].id)).id == batch.jobs[0].id
    config = await jobs.offices.change_config(office.id, maxConcurrentJobs=3)
    assert config.config.maxConcurrentJobs == 3
    renamed = await jobs.offices.change(office.id, expected=config.version, name="Busan")
    with pytest.raises(Changed):
        await jobs.offices.change(office.id, expected=config.version, name="Daegu")
    assert [each.name for each in (await jobs.offices.list()).items] == [renamed.name]
    with pytest.raises(OfficeNotFound):
        await jobs.offices.get(_NOBODY)

    at = dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
    daily = await jobs.schedules.create("greet", name="daily", cron="0 9 * * *", ends_at=at, args={"name": "Eve"})
    assert [each.note for each in await jobs.schedules.preview(daily, n=2)] == [None, None]
    assert (await jobs.schedules.pause(daily)).paused
    assert [each.id for each in (await jobs.schedules.list(name="daily")).items] == [daily.id]
    assert not (await jobs.schedules.executions(schedule=daily)).items
    run = await jobs.schedules.run("greet", {"name": "Eve"})
    assert (await jobs.schedules.execution(run.execution_id)).task_id == "greet"
    assert await jobs.schedules.delete(daily) is None  # type: ignore[func-returns-value]  # over both
    with pytest.raises(ScheduleNotFound):
        await jobs.schedules.get("daily")


async def test_chains_and_workflows(jobs: Installation) -> None:
    chain = await jobs.chains.create(retries=2)
    added = await jobs.chains.enqueue(chain, ChainJob(arguments={"seat": 1}))
    assert (await jobs.chains.get(chain)).jobs == [added]
    ran = await jobs.chains.run(chain, wait=30.0, context={"who": "Ada"})
    assert (ran.run, ran.is_unfinished) == (1, False)
    assert (await jobs.chains.run_of(chain, 1)).run == 1
    await jobs.chains.delete(chain)

    steps: list[Any] = [{"name": "rest", "type": "wait", "seconds": 0}]
    flow = await jobs.workflows.create(name="calm", steps=steps, schedule_config={"mode": "immediate"})
    assert (await jobs.workflows.get(flow)).id == flow.id
    ran_once = await jobs.workflows.execute(flow, variables={})
    async with asyncio.timeout(60):  # It answers after its time budget, ended or not.
        await until(lambda: jobs.workflows.run_of(flow, ran_once.run_id), lambda run: run.status == "completed")
    assert len((await jobs.workflows.runs(flow)).items) == 1


async def test_replays_and_exports(jobs: Installation, tmp_path: Path) -> None:
    assert (await jobs.replays.list()).items == []
    (tmp_path / "empty.osr").touch()
    with pytest.raises(InvalidInput, match="file"):
        await jobs.replays.upload(tmp_path / "empty.osr")
    assert (await jobs.exports.list(status="QUEUED")).total == 0


def test_url_decides_and_strangers_are_refused(tmp_path: Path) -> None:
    assert isinstance(connect(f"sqlite:///{tmp_path / 'jobs.db'}"), App)
    assert isinstance(connect("http://127.0.0.1:8000", token="secret"), RemoteInstallation)
    remote = connect("http://127.0.0.1:8000")
    with pytest.raises(AttributeError, match="cellars"):
        _ = remote.cellars
    with pytest.raises(AttributeError, match="declare"):
        _ = remote.workflows.declare
    with pytest.raises(TypeError, match="requires 1 arguments"):
        fill_of(next(each for each in SURFACES[0].operations if each.call == "job"), (), {})


def test_problem_replaces_nothing_that_exceptions_have() -> None:
    said = {"code": "job_not_found", "detail": "no such job", "args": "other", "__class__": "X", "ids": ["a", "b"]}
    error = error_of(Problem(404, said, None))
    assert isinstance(error, JobNotFound)
    assert (str(error), vars(error)["ids"]) == ("no such job", ("a", "b"))


def test_remote_methods_take_the_arguments_of_services() -> None:
    """Positional parameters beyond those of the path are the first fields of the request."""
    for surface in SURFACES:
        service, remote = load(surface.service), methods_of(surface)
        for name in remote:
            assert callable(getattr(service, name)), f"{surface.name}.{name}"
        for operation in surface.operations:
            if operation.upload is not None or operation.downloads:
                continue
            parameters = list(inspect.signature(getattr(service, operation.call)).parameters.values())[1:]
            positional = [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
            beyond = positional[len(operation.parameters) :]
            fields = [] if operation.request is None else positional_fields(operation.request)
            own = (surface.name, operation.call) == ("chains", "enqueue")  # A ChainJob: its fields.
            assert own or beyond == fields[: len(beyond)], f"{surface.name}.{operation.call}"
