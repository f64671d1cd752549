"""An installation without any worker: only HTTP calls of a cron, once a minute, drive it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import AsyncIterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hanbeon import App
from hanbeon.asgi import Application
from hanbeon.service.tokens import create_token
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.surfaces.verify import verify
from hanbeon.testing import VirtualClock
from tests.outbound.web import Seen, Web, reply
from tests.server.asgi_call import call, lifespan

CRON = "a secret of a serverless cron"
SEOUL = ZoneInfo("Asia/Seoul")
START = dt.datetime(2026, 11, 16, 23, 58, tzinfo=SEOUL)


class Serverless:
    """An application that a platform imports, called minute by minute on a clock of the test."""

    def __init__(self, url: str) -> None:
        self.clock = VirtualClock(round(START.timestamp()) * 1_000_000)
        # On a busy machine, a call may take longer than the budget that it has by default.
        budget = 600.0
        self.app = App(url, clock=self.clock, cron_secret=CRON, outbound_allow_private=True, workflow_budget=budget)
        self.application = Application(self.app)
        self.arrived: list[tuple[str, str]] = []
        self.executed = 0

    @property
    def now(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self.clock.now_us() / 1_000_000, SEOUL)

    def note(self, seen: Seen) -> bytes:
        """Take a message; the first of those that are `flaky` is refused."""
        text = json.loads(seen.body)["message"]
        self.arrived.append((text, f"{self.now:%d %H:%M}"))
        return reply(503 if text == "flaky" and len([each for each, _ in self.arrived if each == text]) == 1 else 200)

    async def minutes(self, count: int) -> None:
        """Let a cron call `execute` every minute and `cron` at midnight, as in the seed."""
        for _ in range(count):
            if (self.now.hour, self.now.minute) == (0, 0):
                status, answer = await call(self.application, "GET", "/api/scheduler/cron", CRON)
                assert status == 200, answer
            status, answer = await call(self.application, "GET", "/api/scheduler/execute", CRON)
            assert status == 200, answer
            self.executed += answer["executed"]
            await self.clock.advance(60)


@pytest.fixture
async def serverless(database_url: str) -> AsyncIterator[Serverless]:
    found = Serverless(database_url)
    async with found.app:  # Open for the test's own questions; the application opens a twin with each request.
        await found.clock.attach(found.app.store)
        yield found


def _workflow(name: str, port: int, schedule: dict[str, Any], *steps: dict[str, Any]) -> dict[str, Any]:
    message = {"type": "message", "target": f"json://127.0.0.1:{port}/", "body": name, "retries": 2}
    return {"name": name, "steps": [message, *steps], "schedule_config": schedule, "status": "active"}


def _recurring(time: str, frequency: str = "daily", **more: Any) -> dict[str, Any]:
    return {"mode": "recurring", "recurrence": {"frequency": frequency, "time": time, **more}}


async def _run(serverless: Serverless, minutes: int, workflows: list[tuple[str, dict[str, Any]]]) -> None:
    token = (await create_token(serverless.app.store, "ada", "user")).text
    async with Web() as web:
        web.answer = serverless.note
        later = {"type": "message", "target": f"json://127.0.0.1:{web.port}/", "body": "after the wait"}
        for name, schedule in workflows:
            wait: dict[str, Any] = {"type": "wait", "minutes": 5}
            steps = [wait, later] if name == "waits" else []
            body = _workflow(name, web.port, schedule, *steps)
            status, made = await call(serverless.application, "POST", "/api/workflows", token, body)
            assert status == 201, made
        await serverless.minutes(minutes)
    status, monitor = await call(serverless.application, "GET", "/api/scheduler/monitor", CRON)
    assert (status, monitor["running"], monitor["failed"], monitor["delayed"]) == (200, 0, 0, [])
    assert (await verify(serverless.app.store)).findings == ()


async def test_calls_once_a_minute_run_what_is_due(serverless: Serverless) -> None:
    workflows = [
        ("scheduled", {"mode": "scheduled", "scheduled_time": (START + dt.timedelta(minutes=4)).isoformat()}),
        ("midnight", _recurring("00:00")),
        ("flaky", _recurring("00:01")),
        ("waits", {"mode": "delayed", "delay_minutes": 1}),
    ]
    await _run(serverless, 8, workflows)
    assert sorted(serverless.arrived) == [
        ("after the wait", "17 00:04"),
        ("flaky", "17 00:01"),
        ("flaky", "17 00:02"),
        ("midnight", "17 00:00"),
        ("scheduled", "17 00:02"),
        ("waits", "16 23:59"),
    ]


@pytest.mark.slow
async def test_a_virtual_day_of_calls_misses_and_repeats_nothing(serverless: Serverless) -> None:
    """A whole day on SQLite; on PostgreSQL, where a call takes longer, its first three hours."""
    hours = 3 if isinstance(serverless.app.store.database, PostgresDatabase) else 24
    workflows = [
        (f"at {hour:02}:{minute:02}", _recurring(f"{hour:02}:{minute:02}"))
        for hour, minute in ((0, 0), (0, 30), (9, 0), (12, 15), (23, 59))
    ]
    workflows += [
        ("weekly", _recurring("08:00", "weekly", weekdays=["TUE"])),
        ("another day", _recurring("08:00", "weekly", weekdays=["WED"])),
        ("monthly", _recurring("10:00", "monthly", day=17)),
        ("flaky", _recurring("06:00")),
        ("waits", {"mode": "delayed", "delay_minutes": 90}),
    ]
    async with lifespan(serverless.application):  # Of a server that keeps it open between two calls, to save time.
        await _run(serverless, hours * 60 + 2, workflows)
    ends_at = f"{serverless.now:%d %H:%M}"
    expected = [
        ("after the wait", "17 01:33"),
        ("at 00:00", "17 00:00"),
        ("at 00:30", "17 00:30"),
        ("at 09:00", "17 09:00"),
        ("at 12:15", "17 12:15"),
        ("at 23:59", "16 23:59"),
        ("at 23:59", "17 23:59"),
        ("flaky", "17 06:00"),
        ("flaky", "17 06:01"),
        ("monthly", "17 10:00"),
        ("waits", "17 01:28"),
        ("weekly", "17 08:00"),
    ]
    assert sorted(serverless.arrived) == [each for each in expected if each[1] < ends_at]
