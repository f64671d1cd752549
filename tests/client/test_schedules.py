"""Both clients against a real server: every call of tasks, executions and schedules, typed."""

import asyncio
import datetime as dt

import pytest

from hanbeon import App
from hanbeon.client import Changed, Conflict, Invalid, NotFound
from hanbeon.errors import InvalidInput
from hanbeon.surfaces.schedules.schemas import Execution, Schedule
from tests.client.both_clients import AnyClient, any_client
from tests.server.client import serving


async def test_a_task_is_run_by_hand_once_and_waited_for(app: App, kind: str) -> None:
    may_end = asyncio.Event()

    @app.task
    async def report(day: str = "today") -> str:
        await may_end.wait()
        return f"report of {day}"

    async with serving(app, work=True) as server, any_client(kind, server.url) as call:
        while not any(each.live for each in await call.take(call.client.tasks.list(limit=1))):
            pass  # The worker starts beside the server.
        task = call.client.task("report")
        assert (await call(task.get)).live == 1
        made = await call(task.run, args={"day": "Monday"}, idempotency_key="once")
        assert isinstance(made, Execution)
        assert (await call(task.run, args={"day": "Monday"}, idempotency_key="once")).execution_id == made.execution_id
        with pytest.raises(Conflict):
            await call(task.run)
        execution = call.client.execution(made.execution_id)
        assert (await call(execution.get)).status in ("PENDING", "RUNNING")
        may_end.set()
        ended = await call(execution.wait, timeout=30)
        assert (ended.status, ended.result, ended.type) == ("SUCCESS", "report of Monday", "MANUAL")
        assert (await call(execution.explain)).runnable is False
        with pytest.raises(Conflict):
            await call(execution.cancel)
        found = await call.take(call.client.executions.list(task_id="report", status=["SUCCESS"], type="MANUAL"))
        assert found == [ended]
    with pytest.raises(NotFound):
        await _missing(app, kind)


async def _missing(app: App, kind: str) -> None:
    async with serving(app) as server, any_client(kind, server.url) as call:
        await call(call.client.task("nobody").run)


async def test_schedules_are_made_changed_paused_previewed_and_deleted(app: App, call: AnyClient) -> None:
    @app.task
    async def report(day: str = "today") -> None:
        pass

    async with app.worker():  # It registers the tasks in the database.
        pass
    schedules = call.client.schedules
    made = await call(schedules.create, "report", name="daily", cron="0 9 * * *", args={"day": "today"})
    assert isinstance(made, Schedule)
    once = await call(schedules.create, "report", run_at=dt.datetime(2099, 1, 1, 9, tzinfo=dt.UTC), paused=True)
    assert (once.cron, once.paused) == (None, True)
    assert {each.id for each in await call.take(schedules.list(limit=1))} == {made.id, once.id}
    assert [each.id for each in await call.take(schedules.list(paused=True))] == [once.id]
    schedule = call.client.schedule(made.id)
    changed = await call(schedule.change, cron="30 8 * * *", expected=made.version)
    assert (changed.cron, changed.name) == ("30 8 * * *", "daily")
    with pytest.raises(Changed):
        await call(schedule.change, cron="0 7 * * *", expected=made.version)
    assert (await call(schedule.pause)).paused is True
    assert (await call(schedule.resume)).paused is False
    assert len((await call(schedule.preview, n=3)).fires) == 3
    previewed = await call(schedules.preview, cron="0 0 1 1 *", timezone="UTC", start="2030-06-01T00:00:00Z", n=2)
    assert [fire.at[:4] for fire in previewed.fires] == ["2031", "2032"]
    assert await call.take(schedule.fires()) == []
    with pytest.raises(Invalid) as refused:
        await call(schedules.create, "report", cron="61 * * * *")
    assert refused.value.field == "cron"
    with pytest.raises(InvalidInput, match="must have a time zone") as naive:
        await call(schedules.create, "report", run_at=dt.datetime(2099, 1, 1, 9))
    assert naive.value.field == "run_at"
    assert await call(schedule.delete) is None
    with pytest.raises(NotFound):
        await call(schedule.get)
