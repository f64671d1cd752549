"""Metrics of schedules: equal on every server, whichever instance did the work, and exact."""

import re
from collections.abc import AsyncIterator

import pytest

from hanbeon.store.operations import totals
from hanbeon.store.operations.totals import add_totals, gather_totals
from hanbeon.testing import TestKit
from tests.server.client import Client, serving
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks


@pytest.fixture
async def timetable(kit: TestKit) -> Timetable:
    return Timetable(kit, add_tasks(kit.app))


@pytest.fixture
async def server(kit: TestKit) -> AsyncIterator[Client]:
    """A server without a worker: everything it counts was done elsewhere."""
    async with serving(kit.app) as client:
        yield client


async def _numbers(server: Client) -> dict[str, float]:
    """Return the metrics by name with their non-empty labels."""
    text = (await server.get("/metrics")).body.decode()
    found = re.findall(r"^(hanbeon_\w+?)(?:\{(.*)\})? (\S+)$", text, re.M)
    return {
        name + "".join(f" {value}" for value in re.findall(r'="([^"]+)"', labels)): float(number)
        for name, labels, number in found
    }


async def test_fires_are_counted_by_what_became_of_them(timetable: Timetable, server: Client) -> None:
    await timetable.make(task_id="hold")
    late = await timetable.make(misfire="skip")
    await timetable.pass_by(60)
    await timetable.pass_by(120, step=60)
    numbers = await _numbers(server)
    assert numbers["hanbeon_fires_total created"] == 2
    assert numbers["hanbeon_fires_total skipped overlap"] == 4
    await timetable.kit.clock.advance(2_000 * 60)
    await timetable.look()
    numbers = await _numbers(server)
    assert numbers["hanbeon_fires_total missed late"] == pytest.approx(1_099, abs=1), "also those without a line"
    await timetable.kit.clock.advance(150)
    await timetable.schedules.pause(late.id)
    assert (await _numbers(server))["hanbeon_fires_total missed paused"] == 2, "whoever wrote them down"


async def test_schedules_are_counted_by_state(timetable: Timetable, server: Client) -> None:
    first = await timetable.make()
    await timetable.make(paused=True)
    numbers = await _numbers(server)
    assert (numbers["hanbeon_schedules active"], numbers["hanbeon_schedules paused"]) == (1, 1)
    await timetable.schedules.pause(first.id)
    numbers = await _numbers(server)
    assert (numbers["hanbeon_schedules active"], numbers["hanbeon_schedules paused"]) == (0, 2)
    await timetable.schedules.delete(first.id)
    assert (await _numbers(server))["hanbeon_schedules paused"] == 1


async def test_a_schedule_that_nobody_sees_to_lags(timetable: Timetable, server: Client) -> None:
    await timetable.make("0 * * * *")
    assert (await _numbers(server))["hanbeon_schedule_lag_seconds"] == 0
    await timetable.kit.clock.advance(2 * 3_600)
    lag = (await _numbers(server))["hanbeon_schedule_lag_seconds"]
    assert 3_600 <= lag <= 7_200
    await timetable.kit.clock.advance(10)
    assert (await _numbers(server))["hanbeon_schedule_lag_seconds"] == pytest.approx(lag + 10)
    await timetable.look()
    assert (await _numbers(server))["hanbeon_schedule_lag_seconds"] == 0


async def test_an_execution_that_does_not_start_lags(timetable: Timetable, server: Client) -> None:
    await timetable.kit.make_job(state="ready")
    assert (await _numbers(server))["hanbeon_execution_start_lag_seconds"] == 0
    await timetable.schedules.run("hold")
    await timetable.kit.clock.advance(90)
    await timetable.schedules.run("report")
    await timetable.kit.clock.advance(5)
    assert (await _numbers(server))["hanbeon_execution_start_lag_seconds"] == pytest.approx(95)
    await timetable.kit.start_ready()
    assert (await _numbers(server))["hanbeon_execution_start_lag_seconds"] == 0


async def test_a_try_that_is_not_due_yet_does_not_lag(timetable: Timetable, server: Client) -> None:
    await timetable.schedules.run("fail")
    await timetable.kit.tick()
    await timetable.kit.clock.advance(5)
    assert (await _numbers(server))["hanbeon_execution_start_lag_seconds"] == 0
    await timetable.kit.clock.advance(15)
    assert (await _numbers(server))["hanbeon_execution_start_lag_seconds"] == pytest.approx(10)


async def test_recovered_attempts_and_pruned_rows_are_counted(timetable: Timetable, server: Client) -> None:
    kit = timetable.kit

    @kit.app.task(on_lost="fail")
    async def once() -> None: ...

    await kit.make_job(state="running")
    await kit.make_job(once, state="running")
    await kit.clock.advance(kit.app.settings.lease + 1)
    await kit.tick()
    numbers = await _numbers(server)
    assert numbers["hanbeon_recovered_attempts_total pending"] == 1
    assert numbers["hanbeon_recovered_attempts_total failed"] == 1
    await kit.clock.advance(kit.app.settings.retention + 1)
    await kit.prune()
    numbers = await _numbers(server)
    assert numbers["hanbeon_pruned_rows_total jobs"] == 1
    assert numbers["hanbeon_pruned_rows_total event_batches"] > 0


async def test_numbers_stay_what_they_are_when_their_rows_are_gathered(
    kit: TestKit, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = kit.app.store
    for _ in range(6):
        await store.write(lambda tx: add_totals(tx, {"pruned/jobs": 2, "pruned/fires": 1}))
    monkeypatch.setattr(totals, "_MANY", 11)
    for rows in (2, 2):
        await store.write(gather_totals)
        assert await store.read(totals.totals) == {"pruned/jobs": 12, "pruned/fires": 6}
        async with kit.app.transaction() as tx:
            table = "hanbeon.total" if "postgres" in kit.app.settings.database_url else "hanbeon_total"
            assert (await tx.fetch(f"SELECT count(*) AS n FROM {table}"))[0]["n"] == rows


async def test_rolled_back_changes_are_not_counted(kit: TestKit) -> None:
    async def fail(tx: object) -> None:
        await add_totals(tx, {"pruned/jobs": 2})  # type: ignore[arg-type]
        raise ValueError("undone")

    with pytest.raises(ValueError, match="undone"):
        await kit.app.store.write(fail)
    assert await kit.app.store.read(totals.totals) == {}
