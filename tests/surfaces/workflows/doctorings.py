"""A run of a workflow that has ended, and one that is registered; and ways to break their invariants."""

from __future__ import annotations

import datetime as dt

from hanbeon.surfaces.workflows.verify import WorkflowInvariant
from hanbeon.testing import TestKit
from tests.clinic import Doctorings
from tests.surfaces.workflows.workflow_kit import WorkflowKit


async def live(kit: TestKit) -> None:
    workflows = WorkflowKit(kit)
    steps = [{"type": "wait", "seconds": seconds} for seconds in (0, 1, 0)]
    later = dt.datetime.fromtimestamp(kit.clock.now_us() / 1_000_000 + 10_000_000, dt.UTC).isoformat()
    await workflows.make(*steps, status="active")
    await workflows.make(*steps, status="active", schedule_config={"mode": "scheduled", "scheduled_time": later})
    for _ in range(20):
        await kit.tick()
        await kit.advance(1)


DOCTORINGS = Doctorings("workflows")
_ENDED = "(SELECT r.run_id FROM hanbeon.workflow_run AS r WHERE r.status IS NOT NULL)"

DOCTORINGS.script(
    WorkflowInvariant.RUN_REGISTERED,
    "a workflow waits for a run that is gone",
    "UPDATE hanbeon.workflow SET run_id = '00000000-0000-0000-0000-000000000001' WHERE run_id IS NOT NULL",
)
DOCTORINGS.script(
    WorkflowInvariant.RUN_REGISTERED,
    "a workflow waits for a run that has ended",
    f"UPDATE hanbeon.workflow SET run_id = {_ENDED} WHERE run_id IS NOT NULL",
)
DOCTORINGS.script(
    WorkflowInvariant.RUN_STATUS,
    "a run that succeeded is said to have failed",
    "UPDATE hanbeon.workflow_run SET status = 'failed' WHERE status IS NOT NULL",
)
DOCTORINGS.script(
    WorkflowInvariant.RUN_STATUS,
    "a run that has ended is said to go on",
    "UPDATE hanbeon.workflow_run SET status = NULL, ended_at = NULL",
)
DOCTORINGS.script(
    WorkflowInvariant.RUN_STATUS,
    "a run has no job",
    "UPDATE hanbeon.workflow_run SET job = -job WHERE status IS NOT NULL",
)
DOCTORINGS.script(
    WorkflowInvariant.STEP_ORDER,
    "a step begins while the one before it waits",
    "UPDATE hanbeon.workflow_step SET status = 'running', ended_at = NULL WHERE step_index = 1",
)
DOCTORINGS.script(
    WorkflowInvariant.STEP_ORDER,
    "a step was skipped",
    "DELETE FROM hanbeon.workflow_step WHERE step_index = 1",
)
