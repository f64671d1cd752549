"""Changes, pauses and deletions: nothing fires by an old definition, and fires that were due are recorded."""

import datetime as dt
from typing import Any

import pytest

from hanbeon.domain.timing.fire_times import jitter_of
from hanbeon.store.operations.totals import totals
from hanbeon.store.tx import Tx
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.rows import schedules
from tests.surfaces.schedules.schedule_kit import Timetable


async def _reasons(timetable: Timetable, schedule: schemas.Schedule) -> dict[str | None, int]:
    found: dict[str | None, int] = {}
    for fire in (await timetable.schedules.fires(schedule.id, limit=1_000)).items:
        found[fire.reason] = found.get(fire.reason, 0) + 1 + fire.more
    return found


@pytest.mark.parametrize(
    ("change", "reason"), [({"cron": "0 * * * *"}, "changed"), ({"paused": True}, "paused"), ({"jitter": 5}, "changed")]
)
async def test_fires_due_under_the_old_times_are_missed(
    timetable: Timetable, change: dict[str, Any], reason: str
) -> None:
    schedule = await timetable.make()
    await timetable.kit.clock.advance(180)
    await timetable.schedules.change(schedule.id, **change)
    assert await _reasons(timetable, schedule) == {reason: 3}
    assert await timetable.outcomes(schedule) == {"missed": 3}
    await timetable.look()
    assert await timetable.executions() == []


async def test_other_times_go_on_from_now(timetable: Timetable) -> None:
    schedule = await timetable.make("0 * * * *")
    await timetable.kit.clock.advance(30 * 60)
    changed = await timetable.schedules.change(schedule.id, cron="*/10 * * * *")
    now = timetable.kit.clock.now_us() // 1_000_000
    assert changed.next_fire_at is not None
    following = dt.datetime.fromisoformat(changed.next_fire_at).timestamp()
    assert now < following <= now + 600


async def test_arguments_that_change_just_before_a_fire_are_used(timetable: Timetable) -> None:
    schedule = await timetable.make(args={"day": "monday"})
    await timetable.kit.clock.advance(59)
    before = (await timetable.schedules.get(schedule.id)).next_fire_at
    changed = await timetable.schedules.change(schedule.id, args={"day": "tuesday"})
    assert changed.next_fire_at == before, "its times stay"
    await timetable.pass_by(60)
    await timetable.run()
    assert timetable.gates.ran == ["tuesday"]


async def test_a_paused_schedule_owes_nothing(timetable: Timetable) -> None:
    schedule = await timetable.make(misfire="all")
    await timetable.schedules.pause(schedule.id)
    await timetable.pass_by(3_600, step=600)
    resumed = await timetable.schedules.resume(schedule.id)
    assert resumed.next_fire_at is not None
    await timetable.look()
    assert await timetable.outcomes(schedule) == {}
    await timetable.pass_by(60)
    assert await timetable.outcomes(schedule) == {"created": 1}


async def test_a_fire_that_waits_is_dropped_by_a_pause(timetable: Timetable) -> None:
    schedule = await timetable.make(task_id="hold", overlap="queue_one")
    await timetable.pass_by(60)
    await timetable.kit.start_ready()
    await timetable.pass_by(60)
    assert len((await timetable.schedules.get(schedule.id)).waiting) == 1
    paused = await timetable.schedules.pause(schedule.id)
    assert paused.waiting == []
    assert await _reasons(timetable, schedule) == {None: 1, "paused": 1}
    timetable.gates.hold.set()
    await timetable.kit.settle()
    await timetable.look()
    assert len(await timetable.executions()) == 1


async def test_deleted_schedule_stops_firing_and_keeps_executions(timetable: Timetable) -> None:
    schedule = await timetable.make()
    await timetable.pass_by(60)
    await timetable.kit.clock.advance(120)
    await timetable.schedules.delete(schedule.id)
    await timetable.pass_by(120, step=60)
    await timetable.run()
    (execution,) = await timetable.executions()
    assert (execution.status.value, execution.schedule_id) == ("SUCCESS", schedule.id)
    counted = await timetable.kit.app.store.read(totals)
    assert counted["fires/missed/deleted"] == 2


async def test_it_fires_from_its_start_to_its_end(timetable: Timetable) -> None:
    now = timetable.kit.clock.now_us() // 1_000_000 // 60 * 60
    start, end = (dt.datetime.fromtimestamp(now + minutes * 60, dt.UTC).isoformat() for minutes in (3, 5))
    schedule = await timetable.make(starts_at=start, ends_at=end, overlap="allow")
    await timetable.pass_by(600, step=60)
    assert await timetable.outcomes(schedule) == {"created": 3}, "both included"
    assert (await timetable.schedules.get(schedule.id)).next_fire_at is None


async def test_jitter_delays_within_bounds_and_is_deterministic(timetable: Timetable) -> None:
    schedule = await timetable.make("0 * * * *", jitter="10m")
    assert schedule.next_fire_at is not None
    nominal = dt.datetime.fromisoformat(schedule.next_fire_at).timestamp()
    assert nominal % 3_600 == 0, "a fire is named by its time, not by when it was seen to"
    due = await timetable.kit.app.store.read(_due_at)
    assert 0 <= due - nominal * 1_000_000 <= 600_000_000
    assert due - nominal * 1_000_000 == jitter_of(schedule.id, int(nominal * 1_000_000), 600_000_000)
    await timetable.kit.clock.advance(due / 1_000_000 - timetable.kit.clock.now_us() / 1_000_000 - 1)
    await timetable.look()
    assert await timetable.outcomes(schedule) == {}
    await timetable.pass_by(2)
    assert await timetable.outcomes(schedule) == {"created": 1}


async def _due_at(tx: Tx) -> int:
    ((found,), _) = await schedules(tx, None, 1)
    assert found.due_at is not None
    return found.due_at
