"""Executions: manual or scheduled, one at a time, retried, cancelled, with their task's settings."""

import pytest

from hanbeon.domain.retry import Backoff
from hanbeon.errors import ExecutionUnfinished
from hanbeon.store.operations.cancel import requeue
from hanbeon.store.operations.prune import count_prunable
from hanbeon.store.operations.queries import attempts_of
from hanbeon.store.operations.tasks import register_tasks
from hanbeon.tasks.task import settings_of
from hanbeon.testing import TestKit
from tests.surfaces.schedules.schedule_kit import Timetable

DAY = 86_400


async def test_manual_run_is_refused_during_a_scheduled_execution(timetable: Timetable) -> None:
    await timetable.make()
    await timetable.pass_by(60)
    (scheduled,) = await timetable.executions()
    with pytest.raises(ExecutionUnfinished, match=scheduled.execution_id):
        await timetable.schedules.run("report")
    await timetable.run()
    manual = await timetable.schedules.run("report")
    assert (manual.type.value, manual.requested_by, manual.schedule_id) == ("MANUAL", "local", None)


async def test_manual_run_is_refused_even_where_overlap_is_allowed(timetable: Timetable) -> None:
    await timetable.make(task_id="hold", overlap="allow")
    await timetable.pass_by(120, step=60)
    assert len(await timetable.kit.start_ready()) == 2
    with pytest.raises(ExecutionUnfinished):
        await timetable.schedules.run("hold")


async def test_a_run_by_hand_lets_the_fires_of_schedules_pass(timetable: Timetable) -> None:
    await timetable.schedules.run("hold")
    schedule = await timetable.make(task_id="hold")
    await timetable.pass_by(60)
    assert await timetable.outcomes(schedule) == {"skipped": 1}


async def test_other_jobs_of_the_task_are_not_counted(timetable: Timetable) -> None:
    await timetable.kit.app.enqueue("report", {})
    assert (await timetable.schedules.run("report")).status.value == "PENDING"


async def test_a_failing_execution_is_the_same_one_at_every_try(timetable: Timetable) -> None:
    made = await timetable.schedules.run("fail")
    await timetable.kit.run_all()
    (failed,) = await timetable.executions()
    assert (failed.execution_id, failed.status.value, failed.retry_count) == (made.execution_id, "FAILED", 1)
    assert (failed.error_code, failed.error_message) == ("ERROR", "on purpose")
    assert len(await timetable.kit.app.store.read(lambda tx: attempts_of(tx, made.execution_id))) == 2


async def test_a_failed_execution_can_be_tried_again_by_an_operator(timetable: Timetable) -> None:
    made = await timetable.schedules.run("fail")
    await timetable.kit.run_all()
    await timetable.kit.app.store.write(lambda tx: requeue(tx, timetable.kit.app.store.lanes, made.execution_id))
    again = await timetable.schedules.execution(made.execution_id)
    assert (again.status.value, again.retry_count) == ("PENDING", 0)
    with pytest.raises(ExecutionUnfinished):
        await timetable.schedules.run("fail")


async def test_tasks_have_three_retries_with_backoff_by_default(kit: TestKit) -> None:
    @kit.app.task
    async def plain() -> None: ...

    policy = settings_of(plain.options).policy
    assert (policy.max_retries, policy.backoff) == (3, Backoff.EXPONENTIAL)
    pauses = [policy.delay_us(n, 0.0) for n in range(3)]
    assert pauses == [pauses[0], 2 * pauses[0], 4 * pauses[0]]


async def test_a_cancelled_execution_has_failed_with_that_code(timetable: Timetable) -> None:
    waiting = await timetable.schedules.run("report")
    answer = await timetable.schedules.cancel(waiting.execution_id)
    assert (answer.stopping, answer.execution.status.value, answer.execution.error_code) == (
        False,
        "FAILED",
        "CANCELLED",
    )
    running = await timetable.schedules.run("hold")
    await timetable.kit.start_ready()
    assert (await timetable.schedules.cancel(running.execution_id)).stopping
    await timetable.kit.settle()
    ended = await timetable.schedules.execution(running.execution_id)
    assert (ended.status.value, ended.error_code) == ("FAILED", "CANCELLED")


async def test_waiting_executions_follow_reregistered_settings(timetable: Timetable) -> None:
    kit = timetable.kit
    made = await timetable.schedules.run("report")
    settings = settings_of(kit.app.tasks.get("fail").options)
    await kit.app.store.write(lambda tx: register_tasks(tx, {"report": settings}, "elsewhere"))
    record = await kit.app.store.job(made.execution_id)
    assert record.policy == settings.policy
    task = await timetable.schedules.task("report")
    assert (task.max_retries, task.registered_by) == (1, "elsewhere")


async def test_prune_takes_old_executions_and_keeps_the_last_fire(timetable: Timetable) -> None:
    kit = timetable.kit
    schedule = await timetable.make("0 * * * *")
    skips = await timetable.make("0 * * * *", task_id="hold")
    for _ in range(3):
        await timetable.pass_by(3_600)
        await _end_reports(timetable)
    await timetable.schedules.pause(schedule.id)
    await timetable.schedules.pause(skips.id)
    await kit.clock.advance(31 * DAY)
    counted = await kit.app.store.read(lambda tx: count_prunable(tx, kit.app.store.retention, 30 * DAY * 1_000_000))
    assert (counted["jobs"], counted["fires"]) == (3, 4)
    while await kit.prune():
        pass
    assert [each.task_id for each in await timetable.executions()] == ["hold"], "it is unfinished"
    assert await timetable.outcomes(schedule) == {"created": 1}, "its last fire"
    assert await timetable.outcomes(skips) == {"created": 1}, "and no line that is younger than that"
    assert (await kit.app.store.read(lambda tx: count_prunable(tx, kit.app.store.retention, 30 * DAY * 1_000_000)))[
        "fires"
    ] == 0


async def _end_reports(timetable: Timetable) -> None:
    """End the executions of `report` only: the other one waits for the end of the test."""
    for each in await timetable.executions(task="report", status="PENDING"):
        await timetable.schedules.cancel(each.execution_id)
