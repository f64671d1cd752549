"""When workflows run: four modes, registered once, in the zone of the workflow."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hanbeon import App
from hanbeon.errors import InvalidInput, WorkflowNotFound, WorkflowWrongState
from hanbeon.store.operations.promote import next_due_us
from hanbeon.surfaces.workflows.schemas import Workflow
from hanbeon.testing import TestKit
from tests.surfaces.workflows.workflow_kit import WorkflowKit

NOTHING = {"type": "wait", "seconds": 0}
KST = ZoneInfo("Asia/Seoul")


def recurring(frequency: str, time: str = "09:00", **fields: Any) -> dict[str, Any]:
    return {"mode": "recurring", "recurrence": {"frequency": frequency, "time": time, **fields}}


async def _passed(kit: WorkflowKit, workflow: Workflow, days: float) -> list[str]:
    """Let days pass, working at every due moment; return the times of all runs, oldest first."""
    until = kit.kit.clock.now_us() + round(days * 86_400_000_000)
    while (wait := await kit.app.store.read(next_due_us)) is not None and kit.kit.clock.now_us() + wait <= until:
        await kit.kit.advance(max(0, wait) / 1_000_000)
        await kit.kit.tick()
    times, cursor = [], None
    while True:
        page = await kit.workflows.runs(workflow, cursor=cursor, limit=100)
        times += [run.scheduled_time[:16] for run in page.items if run.status == "completed"]
        if (cursor := page.next_cursor) is None:
            return times[::-1]


@pytest.fixture
async def from_2027(sqlite_url: str) -> Any:
    start = dt.datetime(2027, 1, 1, tzinfo=KST)
    async with TestKit(App(), sqlite_url, start=start) as kit:
        yield WorkflowKit(kit)


async def test_monthly_on_the_31st_means_the_last_day(from_2027: WorkflowKit) -> None:
    made = await from_2027.make(NOTHING, schedule_config=recurring("monthly", day=31), status="active")
    assert made.next_run_at == "2027-01-31T09:00:00.000+09:00"
    times = await _passed(from_2027, made, 366)
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    assert times == [f"2027-{month:02}-{day}T09:00" for month, day in enumerate(lengths, start=1)]
    assert await from_2027.findings() == []


async def test_weekly_and_daily_follow_the_zone(from_2027: WorkflowKit) -> None:
    weekly = await from_2027.make(
        NOTHING, schedule_config=recurring("weekly", "00:00", weekdays=["MON", "thursday"]), status="active"
    )
    paris = await from_2027.make(
        NOTHING, schedule_config=recurring("daily", "23:30"), timezone="Europe/Paris", status="active"
    )
    assert (paris.timezone, paris.next_run_at) == ("Europe/Paris", "2026-12-31T23:30:00.000+01:00")
    times = await _passed(from_2027, weekly, 14)
    assert times == [f"2027-01-{day}T00:00" for day in ("04", "07", "11", "14")]
    assert (await from_2027.runs(paris))[-1].scheduled_time == "2027-01-01T07:30:00.000+09:00"


async def test_cron_recurs_by_the_zone(from_2027: WorkflowKit) -> None:
    config = {"mode": "recurring", "recurrence": {"cron": "0 9,18 * * MON-FRI"}}
    made = await from_2027.make(NOTHING, schedule_config=config, status="active")
    assert (made.next_run_at, made.schedule_config) == ("2027-01-01T09:00:00.000+09:00", config)
    times = await _passed(from_2027, made, 4)
    assert times == ["2027-01-01T09:00", "2027-01-01T18:00", "2027-01-04T09:00", "2027-01-04T18:00"]
    hourly = {"mode": "recurring", "recurrence": {"cron": "@hourly"}}
    changed = await from_2027.workflows.change(made, schedule_config=hourly)
    assert changed.next_run_at == "2027-01-04T19:00:00.000+09:00"
    assert await from_2027.findings() == []


@pytest.mark.parametrize(
    ("recurrence", "field", "words"),
    [
        ({"cron": "0 25 * * *"}, "cron", "hour"),
        ({"cron": "0 9 * *"}, "cron", "fields"),
        ({"cron": ""}, "cron", "cron expression"),
        ({"cron": "@daily", "time": "09:00"}, "time", "must be omitted beside cron"),
        ({"cron": "@daily", "frequency": "daily"}, "frequency", "must be omitted beside cron"),
        ({"time": "09:00"}, "frequency", "is required"),
        ({"frequency": "daily"}, "time", "is required"),
        ({}, "frequency", "is required"),
    ],
)
async def test_recurrence_is_a_cron_or_a_frequency(
    sqlite_workflows: WorkflowKit, recurrence: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        await sqlite_workflows.make(NOTHING, schedule_config={"mode": "recurring", "recurrence": recurrence})
    assert refused.value.field == f"schedule_config.recurrence.{field}"
    assert (await sqlite_workflows.workflows.list()).items == []


async def test_delete_is_refused_while_any_run_is_under_way(workflow_kit: WorkflowKit) -> None:
    made = await workflow_kit.make({"type": "wait", "minutes": 5}, status="active")
    await workflow_kit.kit.tick()
    (run,) = await workflow_kit.runs(made)
    for _ in range(2):  # As the registered run, and as one that was retried, which belongs to no activation.
        assert [(step.status.value, step.ended_at) for step in run.steps] == [("waiting", None)]
        with pytest.raises(WorkflowWrongState, match=run.run_id):
            await workflow_kit.workflows.delete(made)
        await workflow_kit.workflows.cancel(made, run)
        await workflow_kit.workflows.retry(made, run)
        await workflow_kit.kit.tick()
        (run,) = await workflow_kit.runs(made)
    await workflow_kit.workflows.cancel(made, run)
    await workflow_kit.workflows.delete(made)
    assert await workflow_kit.findings() == []


async def test_runs_of_a_deleted_workflow_are_not_found(workflow_kit: WorkflowKit) -> None:
    made = await workflow_kit.make({"type": "wait", "minutes": 5}, status="active")
    await workflow_kit.kit.tick()
    (run,) = await workflow_kit.runs(made)
    await workflow_kit.workflows.cancel(made, run)
    await workflow_kit.workflows.delete(made)
    workflows = workflow_kit.workflows
    for ask in (workflows.run_of, workflows.cancel, workflows.retry, workflows.explain):
        with pytest.raises(WorkflowNotFound):
            await ask(made, run)
    assert (await workflow_kit.app.store.job(run.run_id)).state == "cancelled"


async def test_delayed_and_scheduled_run_once_an_activation(workflow_kit: WorkflowKit) -> None:
    now = dt.datetime.fromtimestamp(workflow_kit.kit.clock.now_us() / 1e6, KST).replace(microsecond=0)
    at = now + dt.timedelta(hours=2)
    delayed = await workflow_kit.make(NOTHING, schedule_config={"mode": "delayed", "delay_minutes": 10})
    assert (delayed.status, delayed.next_run_at) == ("draft", None)
    delayed = await workflow_kit.workflows.activate(delayed)
    naive = at.replace(tzinfo=None).isoformat()
    once = await workflow_kit.make(
        NOTHING, schedule_config={"mode": "scheduled", "scheduled_time": naive}, status="active"
    )
    assert once.next_run_at == at.isoformat(timespec="milliseconds")
    await workflow_kit.kit.run_all()
    for made, minutes in ((delayed, 10), (once, 120)):
        (run,) = await workflow_kit.runs(made)
        passed = dt.datetime.fromisoformat(run.scheduled_time) - now
        assert (run.status, round(passed.total_seconds() / 60)) == ("completed", minutes)
        ended = await workflow_kit.workflows.get(made)
        assert (ended.status, ended.next_run_at) == ("active", None)
    assert (await workflow_kit.workflows.cron()).created == 0
    await workflow_kit.workflows.pause(delayed)
    await workflow_kit.workflows.activate(delayed)
    await workflow_kit.kit.run_all()
    assert len(await workflow_kit.runs(delayed)) == 2
    with pytest.raises(InvalidInput, match="must be in the future") as caught:
        await workflow_kit.workflows.change(
            once, schedule_config={"mode": "scheduled", "scheduled_time": now.isoformat()}
        )
    assert caught.value.field == "schedule_config.scheduled_time"


async def test_changed_times_replace_the_registered_run(workflow_kit: WorkflowKit) -> None:
    """Deleted, not cancelled: the counts and the history have no trace of it. A pause removes it likewise."""
    workflows = workflow_kit.workflows
    made = await workflow_kit.make(NOTHING, schedule_config=recurring("daily"), status="active")
    same = await workflows.change(made, name="다른 이름", schedule_config=recurring("daily"))
    assert (same.run_id, same.name) == (made.run_id, "다른 이름")
    later = await workflows.change(made, schedule_config=recurring("daily", "10:00"))
    assert later.run_id not in (None, made.run_id)
    assert str(later.next_run_at).endswith("T10:00:00.000+09:00")
    assert [run.run_id for run in await workflow_kit.runs(made)] == [later.run_id]
    assert (await workflows.monitor()).pending == 1
    paused = await workflows.pause(made)
    assert (paused.run_id, await workflow_kit.runs(made)) == (None, [])
    monitor = await workflows.monitor()
    assert (monitor.pending, monitor.failed, monitor.next) == (0, 0, [])
    assert await workflow_kit.findings() == []


async def test_change_during_a_run_counts_after_its_end(workflow_kit: WorkflowKit) -> None:
    """The run keeps the workflow with which it started, and no second run begins beside it."""
    steps = [NOTHING | {"seconds": 90_000}, NOTHING]
    made = await workflow_kit.make(*steps, schedule_config=recurring("daily"), status="active")
    await workflow_kit.kit.advance(86_400)
    await workflow_kit.kit.tick()
    changed = await workflow_kit.workflows.change(made, schedule_config=recurring("daily", "21:00"), steps=[NOTHING])
    assert changed.run_id == made.run_id
    assert (await workflow_kit.workflows.cron()).unchanged == 1
    paused = await workflow_kit.workflows.pause(made)
    assert paused.run_id == made.run_id
    await workflow_kit.workflows.activate(made)
    await workflow_kit.kit.advance(90_000)
    await workflow_kit.kit.tick()
    run = (await workflow_kit.runs(made))[-1]
    assert (run.run_id, run.status, len(run.steps)) == (made.run_id, "completed", 2)
    assert run.skipped is not None
    assert run.skipped.count == 1
    after = await workflow_kit.workflows.get(made)
    assert str(after.next_run_at).endswith("T21:00:00.000+09:00")


async def test_time_that_passed_while_all_was_down_runs_once(workflow_kit: WorkflowKit) -> None:
    made = await workflow_kit.make(NOTHING, schedule_config=recurring("daily"), status="active")
    await workflow_kit.kit.clock.advance(5 * 86_400)
    delayed = (await workflow_kit.workflows.monitor()).delayed
    assert [run.run_id for run in delayed] == [made.run_id]
    assert delayed[0].late_seconds > 3 * 86_400
    await workflow_kit.kit.tick()
    runs = await workflow_kit.runs(made)
    assert [(run.status, run.late) for run in runs] == [("pending", False), ("completed", True)]
    assert runs[1].skipped is not None
    assert runs[1].skipped.count == 4
    assert (await workflow_kit.workflows.monitor()).delayed == []


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"mode": "delayed"}, "schedule_config.delay_minutes"),
        ({"mode": "scheduled", "scheduled_time": "2001-01-01T00:00"}, "schedule_config.scheduled_time"),
        ({"mode": "scheduled", "scheduled_time": "tomorrow"}, "schedule_config.scheduled_time"),
        ({"mode": "immediate", "delay_minutes": 1}, "schedule_config.delay_minutes"),
        (recurring("monthly"), "schedule_config.recurrence.day"),
        (recurring("monthly", day=32), "schedule_config.recurrence.day"),
        (recurring("daily", "25:00"), "schedule_config.recurrence.time"),
        (recurring("daily", weekdays=["MON"]), "schedule_config.recurrence.weekdays"),
        (recurring("weekly", weekdays=["FUNDAY"]), "schedule_config.recurrence.weekdays"),
        (recurring("weekly", weekdays=[]), "schedule_config.recurrence.weekdays"),
        ({"mode": "hourly"}, "schedule_config.mode"),
    ],
)
async def test_rejects_invalid_times(from_2027: WorkflowKit, config: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await from_2027.make(NOTHING, schedule_config=config)
    assert caught.value.field == field
    assert (await from_2027.workflows.list()).items == []
