"""`scheduled_jobs` and `workflow_run_history`, the monitor, the audit and retention: all of the same runs."""

from __future__ import annotations

import uuid
from collections import Counter

from tests.outbound.web import Web, reply
from tests.surfaces.workflows.workflow_kit import WorkflowKit

NOTHING = {"type": "wait", "seconds": 0}


async def test_views_and_monitor_show_every_run(workflow_kit: WorkflowKit) -> None:
    async with Web(reply(400, "아니오")) as web:
        for step in (NOTHING, {"type": "wait", "seconds": 600}, {"type": "http", "url": web.url}):
            await workflow_kit.make(step, status="active")
            await workflow_kit.kit.tick()
        cancelled = await workflow_kit.make(
            NOTHING, schedule_config={"mode": "delayed", "delay_minutes": 5}, status="active"
        )
        await workflow_kit.workflows.cancel(cancelled, str(cancelled.run_id))
    rows = await workflow_kit.script(
        "SELECT id, workflow_id, workflow_data, scheduled_time, status, created_at, updated_at, executed_at, "
        "retry_count, error_message FROM hanbeon.scheduled_jobs"
    )
    counted = Counter(row["status"] for row in rows)
    monitor = await workflow_kit.workflows.monitor()
    assert counted == {"completed": 1, "pending": 1, "failed": 2}
    assert [monitor.pending, monitor.running, monitor.completed, monitor.failed] == [1, 0, 1, 2]
    assert all("알림" in str(row["workflow_data"]) for row in rows)
    (failed,) = monitor.recent_failures
    shown = {str(row["id"]): row for row in rows}[failed.run_id]
    assert (shown["error_message"], shown["retry_count"]) == (failed.error_message, 0)
    steps = await workflow_kit.script(
        "SELECT id, run_id, workflow_id, step_index, step_type, status, attempts, started_at, ended_at, output, "
        "error_message FROM hanbeon.workflow_run_history"
    )
    assert Counter((row["step_type"], row["status"]) for row in steps) == {
        ("wait", "completed"): 1,
        ("wait", "waiting"): 1,
        ("http", "failed"): 1,
    }
    assert await workflow_kit.findings() == []


async def test_verify_finds_a_run_that_is_gone(workflow_kit: WorkflowKit) -> None:
    made = await workflow_kit.make(NOTHING, NOTHING, status="active")
    await workflow_kit.kit.run_all()
    await workflow_kit.script(f"UPDATE hanbeon.workflow SET run_id = '{uuid.uuid4()}' RETURNING id")
    assert await workflow_kit.findings() == ["stranded_workflow"]
    await workflow_kit.script("UPDATE hanbeon.workflow_run SET status = 'failed' RETURNING run_id")
    await workflow_kit.script("DELETE FROM hanbeon.workflow_step WHERE step_index = 0 RETURNING run_id")
    assert await workflow_kit.findings() == ["stranded_workflow", "broken_run", "broken_run"]
    assert made.run_id is not None


async def test_retention_takes_a_run_with_its_steps(workflow_kit: WorkflowKit) -> None:
    made = await workflow_kit.make(NOTHING, status="active")
    await workflow_kit.kit.run_all()
    await workflow_kit.kit.advance(31 * 86_400)
    await workflow_kit.kit.prune()
    assert await workflow_kit.runs(made) == []
    for table in ("workflow_run", "workflow_step", "scheduled_jobs"):
        assert await workflow_kit.script(f"SELECT * FROM hanbeon.{table}") == []
    assert (await workflow_kit.workflows.monitor()).completed == 0
    assert await workflow_kit.findings() == []
