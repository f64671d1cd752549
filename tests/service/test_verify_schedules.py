"""`verify` of schedules: silent on every sound history, and it finds out what was doctored."""

import pytest

from hanbeon.service.verify import VerifyReport, render
from hanbeon.surfaces.schedules.fire_audit import ScheduleCode
from hanbeon.surfaces.verify import verify
from hanbeon.testing import TestKit
from tests.clinic import Patient
from tests.surfaces.schedules.doctorings import DOCTORINGS, Year, begin, hold
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks


@pytest.fixture
async def year(kit: TestKit) -> Year:
    timetable = Timetable(kit, add_tasks(kit.app))
    return await hold(timetable, await begin(timetable))


async def _verify(year: Year) -> VerifyReport:
    return await verify(year.timetable.kit.app.store)


async def test_a_sound_history_has_no_findings(year: Year) -> None:
    assert len(await year.times(year.often, "coalesced")) > 1
    assert await year.sql("SELECT more FROM hanbeon.fire WHERE more > 100"), "one line stands for many"
    assert len((await year.timetable.schedules.get(year.waits.id)).waiting) == 1
    report = await _verify(year)
    assert (report.findings, report.counts["schedules"]) == ((), 3), render(report)
    assert "3 schedules" in render(report)


@pytest.mark.parametrize(
    ("misfire", "overlap"),
    [
        ("coalesce", "skip"),
        ("skip", "allow"),
        ("all", "queue_one"),
        *(pytest.param("coalesce", overlap, marks=pytest.mark.slow) for overlap in ("allow", "queue_one")),
        *(pytest.param("skip", overlap, marks=pytest.mark.slow) for overlap in ("skip", "queue_one")),
        *(pytest.param("all", overlap, marks=pytest.mark.slow) for overlap in ("skip", "allow")),
    ],
)
async def test_every_policy_leaves_a_sound_history(kit: TestKit, year: Year, misfire: str, overlap: str) -> None:
    year.timetable.gates.hold.set()
    await kit.settle()
    await year.timetable.schedules.pause(year.often.id)
    schedule = await year.timetable.make(misfire=misfire, overlap=overlap, misfire_limit=20, jitter=40)
    for seconds in (60, 1_300 * 60, 60, 60):
        await kit.clock.advance(seconds)
        await year.timetable.look()
        assert (await _verify(year)).findings == ()
    for _ in range(25):
        await year.timetable.run()
        await year.timetable.look()
    await year.timetable.schedules.change(schedule.id, cron="*/2 * * * *")
    await kit.clock.advance(600)
    await year.timetable.schedules.pause(schedule.id)
    await kit.clock.advance(600)
    await year.timetable.schedules.resume(schedule.id)
    await kit.clock.advance(600)
    await year.timetable.look()
    await year.timetable.run()
    report = await _verify(year)
    assert report.findings == (), render(report)


async def test_verify_accepts_pruned_history(year: Year) -> None:
    kit = year.timetable.kit
    year.timetable.gates.hold.set()
    await kit.settle()
    await year.timetable.look()
    await year.timetable.run()
    hourly = await year.timetable.make("0 * * * *", overlap="allow")
    for _ in range(5):
        await year.timetable.pass_by(3_600)
        await year.timetable.run()
    assert len(await year.times(hourly, "created")) == 5
    for days in (29, 2):
        await kit.clock.advance(days * 86_400)
        await year.timetable.look()
        await year.timetable.run()
    before = len(await year.sql("SELECT 1 AS one FROM hanbeon.fire"))
    while await kit.prune():
        pass
    assert len(await year.sql("SELECT 1 AS one FROM hanbeon.fire")) < before
    report = await _verify(year)
    assert report.findings == (), render(report)
    await year.sql("UPDATE hanbeon.pruned SET before = 0")
    assert {finding.code for finding in (await _verify(year)).findings} >= {ScheduleCode.LOST_FIRE}, (
        "what it would be otherwise"
    )


async def test_pages_neither_hide_nor_double_anything(year: Year, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hanbeon.surfaces.schedules.verify._SCHEDULES_A_PAGE", 1)
    report = await _verify(year)
    assert (report.findings, report.counts["schedules"]) == ((), 3)
    (doctoring,) = [each for each in DOCTORINGS if each.name == "a_fire_that_waited_is_forgotten"]
    await doctoring.doctor(Patient(year.store, year.clock, year))
    assert {finding.code for finding in (await _verify(year)).findings} == {doctoring.invariant.code}
