"""The database's clock is set back and forth: nothing fires at or before the last fire, and nothing twice."""

from __future__ import annotations

import random

import pytest

from hanbeon.surfaces.schedules import schemas
from tests.surfaces.schedules.schedule_kit import Timetable

STEPS = (-7_200, -3_600, -90, -61, -5, -1, 1, 5, 61, 90, 3_600, 7_200)


@pytest.mark.parametrize("misfire", ["coalesce", "skip", "all"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
async def test_a_clock_that_is_set_back_and_forth_repeats_nothing(
    timetable: Timetable, misfire: str, seed: int
) -> None:
    rng = random.Random(seed)
    schedule = await timetable.make("*/20 * * * * *", misfire=misfire, overlap="allow")
    history: list[str] = []
    for _ in range(40):
        if rng.random() < 0.4:
            await timetable.kit.clock.step(rng.choice(STEPS))
        else:
            await timetable.kit.advance(rng.choice((1, 7, 20, 65)))
        await timetable.look()
        if rng.random() < 0.1:
            # The same times anew: they count from now, but never again from before what has been fired.
            await timetable.schedules.pause(schedule.id)
            await timetable.schedules.resume(schedule.id)
        history = await _checked_history(timetable, schedule, history)
    await timetable.kit.clock.step(86_400)
    await timetable.look()
    assert len(await _checked_history(timetable, schedule, history)) > len(history)
    made = [each.scheduled_at for each in await timetable.executions()]
    assert len(made) == len(set(made)) > 0


async def _checked_history(timetable: Timetable, schedule: schemas.Schedule, before: list[str]) -> list[str]:
    """The history: earlier fires stay as they were and new ones come after them."""
    page = await timetable.schedules.fires(schedule.id, limit=1_000)
    history = [fire.fire_at for fire in reversed(page.items)]
    assert history[: len(before)] == before
    assert history == sorted(set(history))
    return history


async def test_schedule_waits_out_a_step_back_of_the_clock(timetable: Timetable) -> None:
    schedule = await timetable.make()
    await timetable.pass_by(180, step=60)
    assert await timetable.outcomes(schedule) == {"created": 1, "skipped": 2}
    await timetable.kit.clock.step(-3_600)
    await timetable.run()
    await timetable.pass_by(3_600, step=60)
    assert await timetable.outcomes(schedule) == {"created": 1, "skipped": 2}
    await timetable.pass_by(60)
    assert await timetable.outcomes(schedule) == {"created": 2, "skipped": 2}
