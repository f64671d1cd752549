"""No instance ran for a long time: each misfire policy is applied in small steps, and across clock changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hanbeon import App
from hanbeon.surfaces.schedules import poller as engine
from hanbeon.testing import TestKit
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks

HOUR = 3_600
NEW_YORK = ZoneInfo("America/New_York")
EACH_SECOND = "* * * * * *"


async def test_backlog_of_an_hour_is_decided_in_small_steps(timetable: Timetable) -> None:
    """Each schedule has a backlog of thousands of fires. One step of all of them would outlast a transaction."""
    options: dict[str, Any] = {"overlap": "allow", "misfire": "all", "misfire_limit": 60}
    made = [await timetable.make(EACH_SECOND, **options) for _ in range(12)]
    await timetable.kit.clock.advance(HOUR)
    await timetable.kit.worker.polls["fire"].run_once()
    after_one_step = [bool(await timetable.history(each)) for each in made]
    assert 0 < sum(after_one_step) < len(made)
    await timetable.look()
    for each in made:
        assert (await timetable.outcomes(each))["created"] == 61  # The newest is on time.


async def test_fires_that_share_a_line_of_the_history_are_counted_each(timetable: Timetable) -> None:
    made = await timetable.make(EACH_SECOND, overlap="allow", misfire="skip")
    await timetable.pass_by(600)
    assert timetable.kit.worker.pollers[0].done == {"created": 1, "missed": 600 - 1}
    assert len(await timetable.history(made)) < 600


@pytest.mark.parametrize(
    ("misfire", "expected"),
    [
        ("coalesce", {"created": 1, "coalesced": 19}),
        ("skip", {"created": 1, "missed": 19}),
        ("all", {"created": 20}),
    ],
)
@pytest.mark.parametrize("overlap", ["allow", "skip"])
async def test_short_outage_of_a_frequent_schedule(
    timetable: Timetable, misfire: str, overlap: str, expected: dict[str, int]
) -> None:
    """All of it is within the grace time, and yet its fires were missed: later ones came due meanwhile."""
    made = await timetable.make(EACH_SECOND, overlap=overlap, misfire=misfire)
    await timetable.pass_by(20)
    await timetable.run()
    assert await timetable.outcomes(made) == expected


async def test_few_seconds_are_no_outage(timetable: Timetable) -> None:
    made = await timetable.make(EACH_SECOND, overlap="allow", misfire="skip")
    await timetable.pass_by(5)
    assert await timetable.outcomes(made) == {"created": 5}


async def test_fires_of_free_tasks_are_not_held_up_by_busy_ones(
    timetable: Timetable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_AT_ONCE", 2)
    for _ in range(3):
        await timetable.make(task_id="hold", overlap="queue_one")
    last = await timetable.make(overlap="queue_one")
    await timetable.pass_by(120, step=60)
    assert len((await timetable.schedules.get(last.id)).waiting) == 1
    (pending,) = (await timetable.schedules.executions(task="report")).items
    await timetable.schedules.cancel(pending.execution_id)
    for _ in range(3):
        await timetable.look()
    assert (await timetable.schedules.get(last.id)).waiting == []
    assert await timetable.outcomes(last) == {"created": 2}


@asynccontextmanager
async def _instance(kit_url: str, start: dt.datetime) -> AsyncIterator[Timetable]:
    """An instance with its own App, worker and connections, all closed at the end."""
    app = App()
    async with TestKit(app, kit_url, start=start, limit=20) as kit:
        yield Timetable(kit, add_tasks(app))


LATER = {
    "coalesce": {"created": 1, "coalesced": 59},
    "skip": {"created": 1, "missed": 59},
    "all": {"created": 60},
}


@pytest.mark.parametrize("overlap", ["skip", "queue_one", "allow"])
async def test_all_instances_are_down_for_an_hour(kit_url: str, overlap: str) -> None:
    """Really down: App, worker and connections are closed, and others come an hour later."""
    start = dt.datetime(2027, 3, 1, 9, 0, 30, tzinfo=dt.UTC)
    tasks = {"coalesce": "report", "skip": "other", "all": "third"}
    async with _instance(kit_url, start) as before:
        _add_more(before)
        made = {
            misfire: await before.make(task_id=task, misfire=misfire, overlap=overlap)
            for misfire, task in tasks.items()
        }
        await before.pass_by(60)
        await before.run()
        assert [await before.outcomes(each) for each in made.values()] == [{"created": 1}] * len(made)
    async with _instance(kit_url, start + dt.timedelta(seconds=60 + HOUR)) as after:
        _add_more(after)
        await _until_quiet(after)
        for misfire, each in made.items():
            expected = dict(LATER[misfire])
            expected["created"] += 1
            assert await after.outcomes(each) == expected, misfire
        # And continues as usual.
        await after.pass_by(60)
        assert {
            (await after.outcomes(each))["created"] - LATER[misfire]["created"] for misfire, each in made.items()
        } == {2}


def _add_more(timetable: Timetable) -> None:
    async def more(day: str = "") -> None:
        timetable.gates.ran.append(day)

    for name in ("other", "third"):
        timetable.kit.app.task(name=name)(more)


async def _until_quiet(timetable: Timetable) -> None:
    """Create and run everything that is due or waits, without advancing the clock."""
    while True:
        await timetable.look()
        if not await timetable.kit.tick():
            return


@pytest.mark.parametrize(
    ("misfire", "expected"),
    [
        # The night of 14 March: 02:00 to 03:00 does not exist, so 02:30 fires at 03:00, the jump.
        ("all", [("01:30-05:00", None), ("03:00-04:00", None), ("03:30-04:00", None)]),
        (
            "coalesce",
            [("01:30-05:00", "coalesced"), ("03:00-04:00", "coalesced"), ("03:30-04:00", None)],
        ),
        ("skip", [("01:30-05:00", "missed"), ("03:00-04:00", "missed"), ("03:30-04:00", "missed")]),
    ],
)
async def test_catching_up_across_the_beginning_of_summer_time(
    kit_url: str, misfire: str, expected: list[tuple[str, str | None]]
) -> None:
    body = {"cron": "30 1,2,3 * * *", "timezone": "America/New_York", "misfire": misfire, "overlap": "allow"}
    assert await _night(kit_url, "2027-03-14T00:30:00-05:00", "2027-03-14T04:10:00-04:00", body) == expected


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        # 01:00 to 02:00 comes twice on 7 November; a time of day fires in the first pass only.
        ("30 1 * * *", ["01:30-04:00"]),
        ("*/30 * * * *", ["01:00-04:00", "01:30-04:00", "01:00-05:00", "01:30-05:00", "02:00-05:00"]),
    ],
)
async def test_catching_up_across_the_end_of_summer_time(kit_url: str, cron: str, expected: list[str]) -> None:
    body = {"cron": cron, "timezone": "America/New_York", "misfire": "all", "overlap": "allow"}
    start, end = "2027-11-07T00:40:00-04:00", "2027-11-07T02:10:00-05:00"
    assert await _night(kit_url, start, end, body) == [(at, None) for at in expected]


async def _night(kit_url: str, start: str, end: str, body: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return the history of a schedule that no instance handled from `start` to `end`; None for what was created."""
    begin, over = dt.datetime.fromisoformat(start), dt.datetime.fromisoformat(end)
    async with _instance(kit_url, begin) as before:
        schedule = await before.make(**body)
    async with _instance(kit_url, over) as after:
        await _until_quiet(after)
        page = await after.schedules.fires(schedule.id, limit=100)
        return [
            (
                dt.datetime.fromisoformat(fire.fire_at).astimezone(NEW_YORK).isoformat(timespec="minutes")[11:],
                None if fire.outcome == "created" else fire.outcome.value,
            )
            for fire in reversed(page.items)
        ]
