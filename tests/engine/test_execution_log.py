"""Log entries of executions and fires, without a cost for other jobs."""

import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from hanbeon.testing import TestKit
from tests.surfaces.schedules.schedule_kit import Timetable, add_tasks

INSTANT = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+09:00"
STARTED = {"execution", "task", "type", "schedule", "scheduled_at", "started_at", "attempt", "retries"}


@pytest.fixture
async def timetable(kit: TestKit) -> Timetable:
    return Timetable(kit, add_tasks(kit.app))


@pytest.fixture
def entries() -> Iterator[list[dict[str, Any]]]:
    """The entries of a program that has configured structlog."""
    found: list[dict[str, Any]] = []

    def keep(logger: Any, method: str, event: Any) -> Any:
        found.append({"level": method, **event})
        raise structlog.DropEvent

    structlog.configure(processors=[keep])
    yield found
    structlog.reset_defaults()


def _named(entries: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [entry for entry in entries if entry["event"] == name]


async def test_an_execution_of_a_schedule_is_told_from_start_to_end(
    timetable: Timetable, entries: list[dict[str, Any]]
) -> None:
    schedule = await timetable.make()
    await timetable.pass_by(60)
    await timetable.run()
    (execution,) = await timetable.executions()
    (started,), (ended,) = _named(entries, "execution_started"), _named(entries, "execution_ended")
    assert started.keys() - {"event", "level"} == STARTED
    assert ended.keys() - {"event", "level"} == STARTED | {"ended_at", "status", "reason"}
    for entry in (started, ended):
        assert (entry["execution"], entry["task"], entry["type"]) == (execution.execution_id, "report", "SCHEDULE")
        assert (entry["schedule"], entry["scheduled_at"]) == (schedule.id, execution.scheduled_at)
        assert (entry["started_at"], entry["retries"], entry["attempt"]) == (execution.started_at, 0, 1)
    assert (ended["ended_at"], ended["status"]) == (execution.ended_at, "succeeded")
    assert re.fullmatch(INSTANT, ended["ended_at"])


async def test_a_manual_run_that_fails_is_told_with_its_tries(
    timetable: Timetable, entries: list[dict[str, Any]]
) -> None:
    made = await timetable.schedules.run("fail")
    await timetable.kit.run_all()
    assert [(each["retries"], each["attempt"]) for each in _named(entries, "execution_started")] == [(0, 1), (1, 2)]
    (between,), (ended,) = _named(entries, "execution_retrying"), _named(entries, "execution_ended")
    assert (between["status"], between["reason"], between["retries"]) == ("pending", "retried", 1)
    assert (ended["status"], ended["retries"], ended["type"]) == ("failed", 1, "MANUAL")
    assert (ended["execution"], ended["schedule"], ended["scheduled_at"]) == (made.execution_id, None, None)


async def test_recovery_logs_the_execution_of_a_dead_instance(
    timetable: Timetable, entries: list[dict[str, Any]]
) -> None:
    kit = timetable.kit
    made = await timetable.schedules.run("hold")
    await kit.start_ready()
    await kit.clock.advance(kit.app.settings.lease + 1)
    await kit.worker.recover.run_once()
    (entry,) = _named(entries, "execution_retrying")
    assert (entry["execution"], entry["task"], entry["reason"]) == (made.execution_id, "hold", "retried")
    timetable.gates.hold.set()


async def test_passed_fires_are_one_entry_with_details_at_debug(
    timetable: Timetable, entries: list[dict[str, Any]]
) -> None:
    schedule = await timetable.make()
    await timetable.kit.clock.advance(3_600)
    await timetable.look()
    (fired,) = _named(entries, "schedules_fired")
    assert (fired["level"], fired["created"], fired["coalesced"]) == ("info", 1, 59)
    passed = _named(entries, "fire_passed")
    assert len(passed) == 59
    assert {(each["level"], each["outcome"], each["reason"]) for each in passed} == {
        ("debug", "coalesced", "caught_up")
    }
    assert passed[0]["schedule"] == schedule.id
    assert re.fullmatch(INSTANT, passed[0]["fire_at"])


async def test_other_jobs_are_not_told_as_executions(kit: TestKit, entries: list[dict[str, Any]]) -> None:
    @kit.app.task
    async def plain() -> None: ...

    await kit.app.enqueue(plain)
    await kit.app.enqueue(plain, idempotency_key="mine")
    await kit.run_all()
    assert len(_named(entries, "succeeded")) == 2
    assert not [entry for entry in entries if str(entry["event"]).startswith("execution")]


async def test_nothing_is_made_up_for_a_log_that_nobody_reads(
    timetable: Timetable, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "hanbeon")
    await timetable.make()
    await timetable.kit.clock.advance(3_600)
    await timetable.look()
    assert "schedules_fired" in caplog.text
    assert "fire_passed" not in caplog.text
