"""`executions` and `schedules` match the surface of schedules, through all states and kinds."""

from typing import Any

import msgspec
import pytest

from hanbeon.store.operations import instances as instance_rows
from hanbeon.surfaces.schedules.declarations import DeclaredSchedules
from hanbeon.surfaces.schedules.vocabulary import CANCELLED, ExecutionStatus
from hanbeon.testing import TestKit
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks
from tests.surfaces.views.page import check_types_of_values
from tests.surfaces.views.reader import Reader, at_rest

# Waiting fires, and an operator's changes: only in the API.
NOT_SHOWN = {"waiting", "overridden", "last_status", "last_execution_id"}


@pytest.fixture
async def timetable(far_kit: TestKit) -> Timetable:
    return Timetable(far_kit, add_tasks(far_kit.app))


async def executions_agree(timetable: Timetable, reader: Reader) -> dict[str, Any]:
    """Check that every row matches the surface's answer, and none is missing."""

    async def expected() -> dict[str, Any]:
        return {each.execution_id: msgspec.to_builtins(each) for each in await timetable.executions()}

    async def shown() -> dict[str, Any]:
        return {row["execution_id"]: row for row in await reader.view("executions")}

    return await at_rest(expected, shown)


async def schedules_agree(timetable: Timetable, reader: Reader) -> list[dict[str, Any]]:
    shown = sorted(await reader.view("schedules"), key=lambda row: str(row["id"]))
    expected = [msgspec.to_builtins(each) for each in (await timetable.schedules.list(limit=1_000)).items]
    assert shown == [{name: it for name, it in each.items() if name not in NOT_SHOWN} for each in expected]
    return shown


async def test_executions_of_both_types_match_through_all_states(timetable: Timetable, reader: Reader) -> None:
    seen: set[tuple[str, str, str | None]] = set()

    async def look() -> None:
        found = (await executions_agree(timetable, reader)).values()
        seen.update((each["type"], each["status"], each["error_code"]) for each in found)

    kit, run = timetable.kit, timetable.schedules.run
    await timetable.make(args={"day": "오늘 'quoted'"})
    holds = await timetable.make(task_id="hold", overlap="allow")
    await timetable.pass_by(60)
    await run("fail")
    await look()
    await kit.start_ready()
    await look()
    await timetable.schedules.delete(holds.id)
    await look()
    await kit.app.enqueue("report", {})  # No execution: it is in no view.
    timetable.gates.hold.set()
    await timetable.run()
    await kit.run_all()
    await look()
    for task in ("report", "hold"):
        made = await run(task)
        await timetable.schedules.cancel(made.execution_id)
    timetable.gates.hold.clear()
    made = await run("hold")
    await kit.start_ready()
    await look()
    await timetable.schedules.cancel(made.execution_id)
    await kit.settle()
    await look()
    await check_types_of_values(reader, "executions", "progress", "locked_until")
    assert {status for _, status, _ in seen} == {status.value for status in ExecutionStatus}
    assert {("SCHEDULE", "SUCCESS", None), ("MANUAL", "FAILED", "ERROR"), ("MANUAL", "FAILED", CANCELLED)} <= seen
    assert {("SCHEDULE", "PENDING", None), ("SCHEDULE", "RUNNING", None), ("MANUAL", "RUNNING", None)} <= seen


async def test_view_shows_every_kind_of_schedule_except_deleted(timetable: Timetable, reader: Reader) -> None:
    kit = timetable.kit
    await timetable.make()
    await timetable.make(
        "30 0 9 * * MON-FRI",
        name="everything 'said', 전부",
        timezone="Europe/Berlin",
        args={"day": "오늘 'quoted'"},
        overlap="queue_one",
        misfire="all",
        misfire_limit=7,
        jitter=2.5,
        starts_at="2190-03-01T00:00:00.123456+00:00",
        ends_at="2191-01-01T00:00:00+00:00",
        dst_gap="skip",
        dst_fold="both",
    )
    once = await timetable.make(None, run_at="2190-06-01T12:00:00+09:00", paused=True)
    await timetable.make("0 3 * * *", starts_at="1960-02-29T23:59:59.000001+00:00")
    await timetable.make(None, every="7d", starts_at="2190-03-02T00:00:00+09:00")
    kit.app.declared = {"schedules": DeclaredSchedules()}
    kit.app.declared["schedules"].declare("nightly", {"task": "report", "cron": "0 3 * * *"})
    kit.app.declared["schedules"].declare("gone", {"task": "report", "cron": "0 4 * * *"})
    starting = kit.app.worker()
    await starting.register()
    await kit.app.store.write(lambda tx: instance_rows.leave(tx, starting.instance))
    assert len(await schedules_agree(timetable, reader)) == 7
    await timetable.pass_by(120, step=60)
    shown = await schedules_agree(timetable, reader)
    assert sum(row["last_fire_at"] is not None for row in shown) == 1
    await check_types_of_values(reader, "schedules")
    gone = await kit.app.schedules.get("gone")
    await timetable.schedules.delete(gone.id)
    await timetable.schedules.resume(once.id)
    shown = await schedules_agree(timetable, reader)
    assert [row["name"] for row in shown if row["declared"]] == ["nightly"]
    await timetable.schedules.delete(once.id)
    assert len(await schedules_agree(timetable, reader)) == 5


async def test_a_paused_schedule_is_found_by_that(timetable: Timetable, reader: Reader) -> None:
    paused = await timetable.make(paused=True)
    await timetable.make()
    assert [row["id"] for row in await reader.view("schedules", "paused")] == [paused.id]
    assert [row["next_fire_at"] for row in await reader.view("schedules", "paused")] == [paused.next_fire_at]
