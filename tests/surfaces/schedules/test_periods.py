"""Schedules at an interval: `every`, with the phase of `starts_at` or of 1970 UTC."""

from pathlib import Path
from typing import Any

import pytest

from hanbeon import App
from hanbeon.clock import MICROS
from hanbeon.config.file import load
from hanbeon.domain.timing.checks import check_timing
from hanbeon.domain.timing.fire_times import ClockGap, Timing
from hanbeon.errors import ConfigInvalid, InvalidInput
from hanbeon.surfaces.schedules.command_output import schedule_row
from hanbeon.surfaces.verify import verify
from tests.domain.timing.instants import at, first
from tests.surfaces.schedules.schedule_kit import Timetable

NEW_YORK = "America/New_York"


def test_a_period_knows_no_clock_changes() -> None:
    timing = Timing(every_us=5_400 * MICROS, timezone=NEW_YORK)
    assert first(timing, "2026-11-01 00:00", 3) == [
        "2026-11-01T00:30:00-04:00",
        "2026-11-01T01:00:00-05:00",
        "2026-11-01T02:30:00-05:00",
    ]
    (one, two) = list(zip(timing.fires(0), range(2), strict=False))
    assert [fire.at for fire, _ in (one, two)] == [5_400 * MICROS, 10_800 * MICROS]


def test_the_phase_is_that_of_the_start() -> None:
    start = at("2026-11-20 00:10", NEW_YORK)
    end = start + 2 * 5_400 * MICROS
    timing = Timing(every_us=5_400 * MICROS, timezone=NEW_YORK, starts_at=start, ends_at=end)
    fires = [fire.at for fire in timing.fires(0)]
    assert fires == [start, start + 5_400 * MICROS, end]
    assert timing.next_fire(start) == next(timing.fires(start))
    assert timing.next_fire(end) is None


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"every_us": 5, "cron": "@daily"}, "every"),
        ({"every_us": MICROS - 1}, "every"),
        ({"every_us": MICROS, "gap": ClockGap.FIRE}, "gap"),
        ({"every_us": 3_600 * MICROS, "starts_at": 10 * MICROS, "ends_at": 20 * MICROS}, "ends_at"),
    ],
)
def test_other_periods_are_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_timing(Timing(timezone="UTC", **fields), 15 * MICROS)
    assert refused.value.field == field


async def test_fires_come_at_the_interval_and_skip_overlaps(timetable: Timetable) -> None:
    schedule = await timetable.make(None, task_id="hold", every="90s")
    assert schedule.every == 90
    assert "every 1m30s" in schedule_row(schedule, "Asia/Seoul", None)[2]
    await timetable.pass_by(90, step=10)
    await timetable.kit.start_ready()
    await timetable.pass_by(180, step=10)
    assert await timetable.outcomes(schedule) == {"created": 1, "skipped": 2}
    timetable.gates.hold.set()
    await timetable.kit.settle()
    changed = await timetable.schedules.change(schedule.id, cron="@daily")
    assert (changed.every, changed.cron) == (None, "@daily")
    changed = await timetable.schedules.change(schedule.id, every=3_600)
    assert (changed.every, changed.cron) == (3_600, None)
    assert (await verify(timetable.kit.app.store)).findings == ()


async def test_missed_fires_are_caught_up_once(timetable: Timetable) -> None:
    schedule = await timetable.make(None, every=60)
    await timetable.kit.clock.advance(3_600)
    await timetable.look()
    outcomes = await timetable.outcomes(schedule)
    assert (outcomes["created"], outcomes["coalesced"]) == (1, 59)


async def test_code_and_file_declare_periods(app: App, tmp_path: Path) -> None:
    @app.task
    async def poll() -> None: ...

    app.schedule("poll", poll, every="90m")
    (declared,) = app.declared["schedules"].resolved(app.tasks, app.settings)
    assert declared.whole.definition.timing.every_us == 5_400 * MICROS
    with pytest.raises(InvalidInput, match="every: must be a span from one second to a hundred years"):
        app.schedule("other", poll, every=0.5)
    with pytest.raises(InvalidInput, match="every: must not be combined with cron or run_at"):
        app.schedule("other", poll, every=60, cron="@daily")
    preview = await app.schedules.preview_of(every="1h", n=2)
    assert len(preview) == 2

    file = tmp_path / "hanbeon.toml"
    file.write_text('[tasks.a]\ncommand = ["ls"]\n[schedules.b]\ntask = "a"\nevery = "90m"\n')
    (found,) = load(file).surfaces["schedules"]
    assert found.fields["every"] == "90m"
    file.write_text('[tasks.a]\ncommand = ["ls"]\n[schedules.b]\ntask = "a"\nevery = "soon"\n')
    with pytest.raises(ConfigInvalid, match="every: must be a duration"):
        load(file)
