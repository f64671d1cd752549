"""Fires become executions: at their times, once, and as the schedule says when the last run has not ended."""

import datetime as dt

import pytest

from hanbeon.clock import micros
from hanbeon.store.operations.claim import ClaimRequest
from hanbeon.surfaces.schedules.command_output import schedule_row
from hanbeon.surfaces.schedules.vocabulary import ExecutionStatus
from tests.surfaces.schedules.schedule_kit import Timetable


async def test_a_schedule_fires_at_its_times(timetable: Timetable) -> None:
    schedule = await timetable.make("*/5 * * * *", args={"day": "monday"})
    assert schedule.next_fire_at is not None
    await timetable.pass_by(3_600, step=60)
    await timetable.run()
    made = await timetable.executions()
    assert [each.type.value for each in made] == ["SCHEDULE"] * len(made)
    assert timetable.gates.ran[0] == "monday"
    created = [at for at, outcome in await timetable.history(schedule) if outcome == "created"]
    assert created[0] == schedule.next_fire_at[11:19]
    assert [each.scheduled_at[11:19] for each in made] == created


async def test_an_execution_that_has_not_ended_lets_fires_pass(timetable: Timetable) -> None:
    schedule = await timetable.make(task_id="hold")
    await timetable.pass_by(60)
    await timetable.kit.start_ready()
    await timetable.pass_by(180, step=60)
    assert await timetable.outcomes(schedule) == {"created": 1, "skipped": 3}
    timetable.gates.hold.set()
    await timetable.kit.settle()
    await timetable.pass_by(60)
    assert await timetable.outcomes(schedule) == {"created": 2, "skipped": 3}
    page = await timetable.schedules.fires(schedule.id, outcome="skipped")
    assert {fire.reason for fire in page.items} == {"overlap"}


async def test_lost_execution_runs_again_before_the_next_fire(timetable: Timetable) -> None:
    """It waits for its lease alone, not for `retry_delay` besides: no more fires are skipped than must be."""
    schedule = await timetable.make(task_id="hold")
    await timetable.pass_by(60)
    (execution,) = await timetable.executions()
    await timetable.kit.app.store.claim(ClaimRequest(999, ["hold"], 1, micros(timetable.kit.app.settings.lease)))
    timetable.gates.hold.set()
    await timetable.kit.clock.advance(timetable.kit.app.settings.lease)
    await timetable.run()
    (again,) = await timetable.executions()
    assert (again.execution_id, again.status.value, again.retry_count) == (execution.execution_id, "SUCCESS", 0)
    assert timetable.gates.ran == ["hold"]
    await timetable.pass_by(60 - timetable.kit.app.settings.lease)
    assert await timetable.outcomes(schedule) == {"created": 2}


async def test_overlapping_executions_may_be_allowed(timetable: Timetable) -> None:
    schedule = await timetable.make(task_id="hold", overlap="allow")
    await timetable.pass_by(180, step=60)
    assert await timetable.outcomes(schedule) == {"created": 3}
    assert len(await timetable.kit.start_ready()) == 3


async def test_one_may_wait_for_the_last_to_end(timetable: Timetable) -> None:
    schedule = await timetable.make(task_id="hold", overlap="queue_one")
    await timetable.pass_by(60)
    await timetable.kit.start_ready()
    await timetable.pass_by(180, step=60)
    assert await timetable.outcomes(schedule) == {"created": 1, "skipped": 2}
    assert len((await timetable.schedules.get(schedule.id)).waiting) == 1
    timetable.gates.hold.set()
    await timetable.kit.settle()
    await timetable.look()
    assert await timetable.outcomes(schedule) == {"created": 2, "skipped": 2}
    assert (await timetable.schedules.get(schedule.id)).waiting == []
    await timetable.run()
    assert timetable.gates.ran == ["hold", "hold"]


@pytest.mark.parametrize(
    ("misfire", "expected"),
    [
        ("coalesce", {"created": 1, "coalesced": 59}),
        ("skip", {"created": 1, "missed": 59}),
        ("all", {"created": 1}),
    ],
)
async def test_after_an_hour_without_anybody(timetable: Timetable, misfire: str, expected: dict[str, int]) -> None:
    schedule = await timetable.make(misfire=misfire)
    await timetable.kit.clock.advance(3_600)
    await timetable.look()
    assert await timetable.outcomes(schedule) == expected
    await timetable.run()
    if misfire == "all":
        await _finish(timetable)
        assert await timetable.outcomes(schedule) == {"created": 60}
        assert len(timetable.gates.ran) == 60


async def _finish(timetable: Timetable) -> None:
    for _ in range(200):
        await timetable.look()
        if not await timetable.kit.tick():
            return


async def test_an_instant_fires_once(timetable: Timetable) -> None:
    moment = timetable.kit.clock.now_us() // 1_000_000 + 90
    schedule = await timetable.make(None, run_at=dt.datetime.fromtimestamp(moment, dt.UTC).isoformat())
    await timetable.pass_by(600, step=30)
    assert await timetable.outcomes(schedule) == {"created": 1}
    assert (await timetable.schedules.get(schedule.id)).next_fire_at is None


async def test_schedule_that_fails_every_time_says_so(timetable: Timetable) -> None:
    failing = await timetable.make("* * * * *", "fail", name="failing")
    fine = await timetable.make("* * * * *", "report", name="fine")
    assert (failing.last_status, failing.last_execution_id) == (None, None)
    await timetable.pass_by(60)
    (fire,) = (await timetable.schedules.fires(failing.id)).items
    assert fire.status is ExecutionStatus.PENDING
    await timetable.kit.run_all()
    (fire,) = (await timetable.schedules.fires(failing.id)).items
    assert fire.status is ExecutionStatus.FAILED
    shown = {each.name: each for each in (await timetable.schedules.list()).items}
    assert (shown["failing"].last_status, shown["fine"].last_status) == (
        ExecutionStatus.FAILED,
        ExecutionStatus.SUCCESS,
    )
    assert shown["failing"].last_execution_id == fire.execution_id
    assert await timetable.schedules.get("failing") == shown["failing"]
    # The next one has not run yet: the last that ended is what counts.
    await timetable.pass_by(60)
    assert (await timetable.schedules.get("failing")).last_status is ExecutionStatus.FAILED
    rows = {row[0]: [str(each) for each in row] for row in (schedule_row(each, "UTC", None) for each in shown.values())}
    assert (rows["failing"][5], rows["fine"][5]) == ("FAILED", "SUCCESS")
    assert fine.id == shown["fine"].id
