"""Recipients of a message step."""

from __future__ import annotations

from tests.surfaces.workflows.workflow_kit import WorkflowKit, message


async def test_null_target_of_a_recipient_means_the_steps(workflow_kit: WorkflowKit) -> None:
    step = message("json://localhost", recipients=[{"target": None, "name": "Ada"}])
    made = await workflow_kit.make(step)
    assert made.steps[0]["recipients"] == [{"name": "Ada"}]
