"""`app.schedules`: the same operations as over HTTP, with Python types."""

import datetime as dt

import pytest

from hanbeon import App, SyncApp, daily, monthly, weekly
from hanbeon.errors import ExecutionUnfinished, InvalidInput, ScheduleNameTaken, ScheduleNotFound, UnknownTask
from hanbeon.testing import TestKit
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks

KST = dt.timezone(dt.timedelta(hours=9))


async def test_a_schedule_is_made_with_keywords_and_found_by_its_name(timetable: Timetable) -> None:
    app = timetable.kit.app
    report = app.tasks.get("report")
    made = await app.schedules.create(
        report,
        cron=daily("09:00"),
        name="morning",
        args={"day": "today"},
        starts_at=dt.datetime(2090, 1, 1, tzinfo=KST),
        ends_at=dt.datetime(2091, 1, 1),  # In the schedule's zone.
        timezone="Europe/Berlin",
    )
    assert (made.task_id, made.cron, made.args) == ("report", "0 9 * * *", {"day": "today"})
    assert made.starts_at == "2090-01-01T00:00:00.000+09:00"
    assert made.ends_at == "2091-01-01T08:00:00.000+09:00"
    for key in (made, made.id, "morning"):
        assert await app.schedules.get(key) == made
    assert (await app.schedules.list(task=report, name="morning")).items == [made]
    assert (await app.schedules.list(task="hold")).items == []
    with pytest.raises(ScheduleNameTaken):
        await app.schedules.create("hold", cron="@daily", name="morning")


async def test_it_is_changed_paused_resumed_and_deleted(timetable: Timetable) -> None:
    schedules = timetable.kit.app.schedules
    made = await schedules.create("report", cron="@hourly", name="it", overlap="allow")
    changed = await schedules.change("it", expected=made.version, cron=None, run_at=dt.datetime(2090, 1, 1, tzinfo=KST))
    assert (changed.cron, changed.run_at) == (None, "2090-01-01T00:00:00.000+09:00")
    assert changed.overlap == "allow"
    hold = timetable.kit.app.tasks.get("hold")
    assert (await schedules.change(changed, task=hold, overlap=None)).task_id == "hold"
    assert (await schedules.get(made.id)).overlap == "skip", "None stands for the default"
    assert (await schedules.pause("it")).next_fire_at is None
    assert (await schedules.resume("it")).next_fire_at == changed.run_at
    await schedules.delete("it")
    for key in ("it", made.id, made):
        with pytest.raises(ScheduleNotFound):
            await schedules.get(key)


async def test_times_are_previewed(timetable: Timetable) -> None:
    schedules = timetable.kit.app.schedules
    await schedules.create("report", cron=monthly(31, "23:00"), name="month")
    assert [each.at[5:16] for each in await schedules.preview("month", n=3)] != []
    fires = await schedules.preview_of(
        cron=weekly(["SUN"], "02:30"), timezone="Europe/Berlin", start=dt.datetime(2027, 3, 28), n=2
    )
    assert [each.at for each in fires] == ["2027-03-28T03:00:00.000+02:00", "2027-04-04T02:30:00.000+02:00"]
    assert fires[0].note == "02:30 does not exist on 2027-03-28; fires at 03:00, when the clocks jump"


async def test_a_task_is_run_by_hand_and_its_executions_are_listed(timetable: Timetable) -> None:
    app = timetable.kit.app
    made = await app.schedules.run(app.tasks.get("report"), {"day": "now"})
    with pytest.raises(ExecutionUnfinished):
        await app.schedules.run("report")
    assert [each["code"] for each in (await app.schedules.explain(made.execution_id)).reasons] == ["no_worker"]
    await timetable.run()
    assert await app.job(made.execution_id).result(timeout=10) == "now"
    done = await app.schedules.execution(made.execution_id)
    assert (done.status, done.type) == ("SUCCESS", "MANUAL")
    assert (await app.schedules.executions(task="report", status="SUCCESS", type="MANUAL")).items == [done]
    schedule = await app.schedules.create("report", cron="* * * * *", name="each minute")
    await timetable.pass_by(60)
    (fire,) = (await app.schedules.fires("each minute")).items
    (of_it,) = (await app.schedules.executions(schedule="each minute")).items
    assert (fire.execution_id, of_it.schedule_id) == (of_it.execution_id, schedule.id)
    answer = await app.schedules.cancel(of_it.execution_id)
    assert (answer.execution.error_code, answer.stopping) == ("CANCELLED", False)
    known = await app.schedules.task("report")
    assert known.parameters == {
        "type": "object",
        "properties": {"day": {"type": "string", "default": ""}},
        "required": [],
        "additionalProperties": False,
    }
    assert "hold" in [task.task_id for task in (await app.schedules.tasks()).items]


async def test_rejects_invalid_input_with_its_field(timetable: Timetable) -> None:
    schedules = timetable.kit.app.schedules
    with pytest.raises(InvalidInput, match="did you mean 'cron'") as refused:
        await schedules.create("report", corn="* * * * *")  # type: ignore[call-arg]
    assert refused.value.field == "corn"
    with pytest.raises(InvalidInput, match="must be a task or its name"):
        await schedules.create(3, cron="* * * * *")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must be a schedule, its id or its name"):
        await schedules.get(3)  # type: ignore[arg-type]
    with pytest.raises(UnknownTask, match="did you mean 'report'"):
        await schedules.create("reprot", cron="* * * * *")
    with pytest.raises(InvalidInput, match="must be an integer from 1 to 1000") as refused:
        await schedules.preview_of(cron="* * * * *", n=0)
    assert refused.value.field == "n"


async def test_rejects_a_naive_time_unless_a_zone_was_chosen(timetable: Timetable) -> None:
    schedules, noon = timetable.kit.app.schedules, dt.datetime(2090, 1, 1, 12)
    with pytest.raises(InvalidInput, match="must have a time zone, got 2090-01-01 12:00:00") as refused:
        await schedules.create("report", run_at=noon)
    assert refused.value.field == "run_at"
    named = await schedules.create("report", run_at=noon, timezone="Europe/Berlin")
    assert named.run_at == "2090-01-01T20:00:00.000+09:00"
    timetable.kit.app.settings = timetable.kit.app.settings.model_copy(update={"timezone": "Asia/Seoul"})
    chosen = await schedules.create("report", run_at=noon)
    assert chosen.run_at == "2090-01-01T12:00:00.000+09:00"


def test_the_same_without_an_event_loop(database_url: str) -> None:
    app = App(database_url)
    add_tasks(app)
    with_jobs = SyncApp(app)
    with_jobs.migrate()
    with with_jobs as jobs:
        made = jobs.schedules.create("report", cron=daily("09:00"), name="morning")
        assert jobs.schedules.get("morning") == made
        assert jobs.schedules.pause(made).paused
        assert [each.name for each in jobs.schedules.list().items] == ["morning"]
        assert len(jobs.schedules.preview("morning", n=3)) == 3
        ran = jobs.schedules.run("report", {"day": "now"})
        with pytest.raises(ExecutionUnfinished):
            jobs.schedules.run("report")
        assert jobs.schedules.cancel(ran.execution_id).execution.status == "FAILED"
        jobs.schedules.delete("morning")
        with pytest.raises(ScheduleNotFound):
            jobs.schedules.fires("morning")


async def test_declared_schedule_exists_once_a_worker_starts(kit: TestKit) -> None:
    add_tasks(kit.app)
    kit.app.schedule("nightly", kit.app.tasks.get("report"), cron=daily("03:00"), args={"day": "night"})
    worker = kit.app.worker()
    await worker.register()
    schedule = await kit.app.schedules.get("nightly")
    assert (schedule.cron, schedule.args, schedule.created_by) == ("0 3 * * *", {"day": "night"}, worker.name)
