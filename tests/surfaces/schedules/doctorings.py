"""A sound history of schedules, and ways to break their invariants."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from hanbeon.domain.audit.findings import Code, FindingCode
from hanbeon.store.store import Store
from hanbeon.surfaces.schedules import schemas
from hanbeon.surfaces.schedules.fire_audit import ScheduleCode, ScheduleInvariant
from hanbeon.testing import TestKit
from hanbeon.testing.clock import VirtualClock
from tests.clinic import Doctorings, Patient
from tests.service.raw_sql import run_sql
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks

MINUTE = 60_000_000


class Year(NamedTuple):
    """Schedules with something to tell: `often` was missed for hours, the task of `alone` and `waits` runs."""

    timetable: Timetable
    store: Store
    clock: VirtualClock
    often: schemas.Schedule
    alone: schemas.Schedule
    waits: schemas.Schedule

    async def sql(self, text: str, *values: Any) -> list[Any]:
        return list(await run_sql(self.store, text, *values))

    async def times(self, schedule: schemas.Schedule, outcome: str) -> list[int]:
        rows = await self.sql(
            "SELECT fire_at FROM hanbeon.fire WHERE schedule_id = $1 AND outcome = $2 ORDER BY fire_at",
            schedule.id,
            outcome,
        )
        return [row["fire_at"] for row in rows]


async def begin(timetable: Timetable) -> schemas.Schedule:
    """Return a schedule that was missed for hours."""
    kit = timetable.kit
    often = await timetable.make()
    for _ in range(5):
        await timetable.pass_by(60)
        await timetable.run()
    await kit.clock.advance(900 * 60)
    await timetable.look()
    await timetable.run()
    await timetable.schedules.run("report")
    await timetable.run()
    return await timetable.schedules.change(often.id, args={"day": "friday"})


async def hold(timetable: Timetable, often: schemas.Schedule) -> Year:
    """Let a task run that others wait for."""
    kit = timetable.kit
    await timetable.schedules.run("hold")
    await kit.start_ready()
    alone = await timetable.make(task_id="hold")
    waits = await timetable.make(task_id="hold", overlap="queue_one")
    await timetable.pass_by(180, step=60)
    return Year(timetable, kit.app.store, kit.clock, often, alone, waits)


async def live(kit: TestKit) -> tuple[Timetable, schemas.Schedule]:
    timetable = Timetable(kit, add_tasks(kit.app))
    return timetable, await begin(timetable)


async def leave(kit: TestKit, begun: tuple[Timetable, schemas.Schedule]) -> Year:
    return await hold(*begun)


DOCTORINGS = Doctorings("schedules")
YearDoctor = Callable[[Year], Awaitable[str | None]]


def breaks(invariant: ScheduleInvariant, *also: FindingCode) -> Callable[[YearDoctor], YearDoctor]:
    """Register a way to break an invariant; it answers with the id of the schedule that a finding must name."""

    def register(doctor: YearDoctor) -> YearDoctor:
        async def treat(patient: Patient) -> str | None:
            year: Year = patient.facts
            return await doctor(year._replace(store=patient.store, clock=patient.clock))

        treat.__name__ = doctor.__name__
        DOCTORINGS.breaks(invariant, *also)(treat)
        return doctor

    return register


@breaks(ScheduleInvariant.TIME_KEPT)
async def a_line_of_the_history_is_gone(year: Year) -> str:
    (*_, skipped) = await year.times(year.alone, "skipped")
    await year.sql("DELETE FROM hanbeon.fire WHERE schedule_id = $1 AND fire_at = $2", year.alone.id, skipped)
    return year.alone.id


@breaks(ScheduleInvariant.SUM_KEPT)
async def a_line_stands_for_one_less(year: Year) -> str:
    last = "SELECT max(f.fire_at) FROM hanbeon.fire AS f WHERE f.more > 0"
    assert await year.sql(f"UPDATE hanbeon.fire SET more = more - 1 WHERE fire_at = ({last}) RETURNING more")
    return year.often.id


@breaks(ScheduleInvariant.TIME_KEPT)
async def a_line_that_stood_for_many_is_gone(year: Year) -> str:
    assert await year.sql("DELETE FROM hanbeon.fire WHERE more > 0 RETURNING more")
    return year.often.id


@breaks(ScheduleInvariant.TIME_KEPT)
async def a_fire_that_waited_is_forgotten(year: Year) -> str:
    await year.sql("UPDATE hanbeon.schedule SET waiting = NULL WHERE id = $1", year.waits.id)
    return year.waits.id


@breaks(ScheduleInvariant.EXECUTION_KEPT)
async def an_execution_is_gone(year: Year) -> str:
    await year.sql(
        "DELETE FROM hanbeon.execution WHERE schedule_id = $1 AND scheduled_at = $2",
        year.often.id,
        (await year.times(year.often, "created"))[1],
    )
    return year.often.id


@breaks(ScheduleInvariant.FIRE_KEPT)
async def an_execution_has_no_line(year: Year) -> str:
    """Its time is before all that is looked at."""
    first, *_ = await year.times(year.often, "created")
    await year.sql("UPDATE hanbeon.schedule SET timed_since = $2 WHERE id = $1", year.often.id, first)
    await year.sql("DELETE FROM hanbeon.fire WHERE schedule_id = $1 AND fire_at = $2", year.often.id, first)
    return year.often.id


@breaks(ScheduleInvariant.ONE_EXECUTION, ScheduleCode.LOST_FIRE)
async def one_fire_has_two_executions(year: Year) -> str:
    first, second, *_ = await year.times(year.often, "created")
    await year.sql("UPDATE hanbeon.execution SET scheduled_at = $2 WHERE scheduled_at = $1", second, first)
    return year.often.id


@breaks(ScheduleInvariant.DECIDED_ONCE)
async def what_was_decided_waits_again(year: Year) -> str:
    (*_, last) = await year.times(year.often, "created")
    await year.sql("UPDATE hanbeon.schedule SET waiting = $2 WHERE id = $1", year.often.id, f"[{last}]")
    return year.often.id


async def _add_line(year: Year, schedule: schemas.Schedule, after: int) -> None:
    await year.sql(
        "INSERT INTO hanbeon.fire (schedule_id, fire_at, outcome, reason, recorded_at) "
        "SELECT s.id, s.considered_to + $2, 'missed', 'late', s.considered_to FROM hanbeon.schedule AS s "
        "WHERE s.id = $1",
        schedule.id,
        after,
    )


@breaks(ScheduleInvariant.OWN_TIME)
async def it_fired_between_its_times(year: Year) -> str:
    await _add_line(year, year.often, -MINUTE // 2)
    return year.often.id


@breaks(ScheduleInvariant.NOT_AHEAD)
async def it_fired_ahead_of_its_time(year: Year) -> str:
    await _add_line(year, year.often, MINUTE)
    return year.often.id


@breaks(ScheduleInvariant.IN_FORCE)
async def it_fired_by_what_it_said_before(year: Year) -> str:
    """As if the times had been changed between the fire and the moment at which it was decided."""
    (*_, last) = await year.times(year.often, "created")
    await year.sql("UPDATE hanbeon.schedule SET timed_since = considered_to WHERE id = $1", year.often.id)
    await year.sql(
        "UPDATE hanbeon.fire SET recorded_at = recorded_at + $3 WHERE schedule_id = $1 AND fire_at = $2",
        year.often.id,
        last,
        10 * MINUTE,
    )
    return year.often.id


@breaks(ScheduleInvariant.ALONE, Code.TALLY_MISMATCH)
async def two_executions_of_a_task_ran_together(year: Year) -> None:
    rows = await year.sql(
        "SELECT e.job, j.started_at FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job "
        "WHERE e.schedule_id = $1 ORDER BY e.job",
        year.often.id,
    )
    await year.sql("UPDATE hanbeon.job SET started_at = $2 WHERE seq = $1", rows[1]["job"], rows[0]["started_at"] - 1)


@breaks(ScheduleInvariant.PROCESSED, Code.STUCK_JOB)
async def nobody_is_at_work(year: Year) -> str:
    await year.clock.advance(3_600)
    return year.often.id
