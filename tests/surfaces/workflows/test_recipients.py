"""Recipients of a message step."""

from __future__ import annotations

import pytest

from hanbeon.errors import InvalidInput
from tests.surfaces.workflows.workflow_kit import WorkflowKit, message


async def test_null_target_of_a_recipient_means_the_steps(workflow_kit: WorkflowKit) -> None:
    step = message("json://localhost", recipients=[{"target": None, "name": "Ada"}])
    made = await workflow_kit.make(step)
    assert made.steps[0]["recipients"] == [{"name": "Ada"}]


async def test_refusal_names_the_step_in_its_text(workflow_kit: WorkflowKit) -> None:
    with pytest.raises(InvalidInput) as refused:
        await workflow_kit.make(message("json://localhost"), message("UNDECLARED"))
    assert refused.value.field == "steps[1].target"
    assert str(refused.value).startswith("steps[1].target: must name a declared secret")
