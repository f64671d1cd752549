"""An installation without any worker: cron once a day and execute once a virtual minute do all the work."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from zoneinfo import ZoneInfo

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.outbound.web import Web, reply
from tests.surfaces.workflows.workflow_kit import WorkflowKit

MIDNIGHT = dt.datetime(2027, 3, 1, tzinfo=ZoneInfo("Asia/Seoul"))


@pytest.mark.parametrize(
    ("minutes", "database_url"),
    [
        pytest.param(30, "sqlite", id="half-hour"),
        pytest.param(1_440, "sqlite", id="day", marks=pytest.mark.slow),
    ],
    indirect=["database_url"],
)
async def test_calls_once_a_minute_run_all_that_is_due(database_url: str, minutes: int) -> None:
    app = App(outbound_allow_private=True)

    @app.task
    async def total() -> dict[str, int]:
        return {"total": 7}

    async with Web(reply(503), reply(200)) as web, TestKit(app, database_url, start=MIDNIGHT) as kit:
        wf = WorkflowKit(kit)
        await kit.worker.register()  # The tasks are known from now on; the worker itself never works.
        daily = await wf.make(
            {"type": "task", "name": "sum", "task_id": "total"},
            {"type": "wait", "minutes": 3},
            {"type": "http", "url": f"{web.url}/{{{{ steps.sum.total }}}}", "retry_delay": 60},
            schedule_config={"mode": "recurring", "recurrence": {"frequency": "daily", "time": "00:05"}},
            status="active",
        )
        late = await wf.make(
            {"type": "wait", "seconds": 0}, schedule_config={"mode": "delayed", "delay_minutes": 20}, status="active"
        )
        executed: Counter[str] = Counter()
        for _ in range(minutes):
            await kit.clock.advance(60)
            done = await wf.workflows.execute_due()
            executed.update(result.run_id for result in done.results)
        await wf.workflows.cron()
        run = (await wf.runs(daily))[-1]
        assert (run.status, run.retry_count) == ("completed", 1), run
        assert [seen.target for seen in web.seen] == ["/7", "/7"]
        assert [each.status for each in await wf.runs(late)] == ["completed"]
        assert (await wf.workflows.monitor()).delayed == []
        assert executed.keys() == {run.run_id, str(late.run_id)}
        assert await wf.findings() == []
