"""Several instances poll the same due schedules at once: each fire is decided by one of them."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from hanbeon.surfaces.schedules.poller import SchedulePoller
from tests.guarantees import guarantee
from tests.surfaces.schedules.schedule_kit import Timetable

INSTANCES, SCHEDULES = 4, 60


@pytest.mark.parametrize("rounds", [5])
async def test_instances_share_what_is_due(timetable: Timetable, rounds: int) -> None:
    made = [await timetable.make(overlap="allow", args={"day": str(n)}) for n in range(SCHEDULES)]
    async with AsyncExitStack() as stack:
        twins = [await stack.enter_async_context(timetable.kit.app.twin()) for _ in range(INSTANCES)]
        triggers = [SchedulePoller(twin.store, twin.settings) for twin in twins]

        async def see_to_it(trigger: SchedulePoller) -> None:
            # Until the next one is a minute away: a poll that found all locked by others is no end.
            while await trigger.run_once() < 1:  # noqa: ASYNC110 - it is others who are to come on
                await asyncio.sleep(0)

        for _ in range(rounds):
            await timetable.kit.advance(60)
            await asyncio.gather(*(see_to_it(each) for each in triggers))
    executions = await timetable.executions()
    with guarantee():
        for each in made:
            assert await timetable.outcomes(each) == {"created": rounds}
        assert (
            len({(each.schedule_id, each.scheduled_at) for each in executions}) == len(executions) == rounds * SCHEDULES
        )


async def test_unrelated_change_keeps_the_exact_run_at(timetable: Timetable) -> None:
    schedule = await timetable.make(None, run_at="2023-12-01T10:00:00.123456+09:00")
    changed = await timetable.schedules.change(schedule.id, name="exactly then")
    await timetable.kit.advance(400 * 86_400)
    assert changed.next_fire_at == schedule.next_fire_at
    await timetable.look()
    assert await timetable.outcomes(schedule) == {"created": 1}
    renamed = await timetable.schedules.change(schedule.id, name="it was")
    assert renamed.name == "it was"
