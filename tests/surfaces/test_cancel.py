"""The answer to a cancel agrees with the job returned with it: stopped work is not reported as stopping."""

import asyncio

import pytest

from hanbeon import App, State
from hanbeon.surfaces.offices.service import Offices
from hanbeon.surfaces.schedules.service import Schedules


@pytest.fixture
def begun(app: App, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when the task `hang` runs; a cancel of it is answered only after it has stopped."""
    begun, cancel = asyncio.Event(), app.store.cancel

    @app.task(retries=0)
    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def late(job_id: str) -> State:
        state = await cancel(job_id)
        assert (await app.job(job_id).wait(60)).state is State.CANCELLED
        return state

    monkeypatch.setattr(app.store, "cancel", late)
    return begun


async def test_a_job_of_an_office_that_has_stopped_meanwhile(app: App, begun: asyncio.Event) -> None:
    offices = Offices(app)
    office = await offices.create(name="Seoul", sessions={"default": "hang"})
    async with app.worker():
        (job,) = (await offices.create_jobs(office.id, jobs=[{}])).jobs
        await asyncio.wait_for(begun.wait(), 60)
        answer = await offices.cancel(office.id, job.id)
    assert (answer.job.status, answer.stopping) == ("cancelled", False)


async def test_an_execution_that_has_stopped_meanwhile(app: App, begun: asyncio.Event) -> None:
    schedules = Schedules(app)
    async with app.worker():
        made = await schedules.run("hang")
        await asyncio.wait_for(begun.wait(), 60)
        answer = await schedules.cancel(made.execution_id)
    assert (answer.execution.status, answer.stopping) == ("FAILED", False)
