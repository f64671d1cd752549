"""Settings of workflows."""

from __future__ import annotations

from hanbeon.setting_fields import DeclaredFields, Field


class WorkflowSettings(DeclaredFields):
    workflow_concurrency: int = Field(
        20, ge=1, le=1_000, description="How many runs of workflows a worker works on at once, beside its jobs"
    )
    workflow_budget: float = Field(
        25.0, gt=0, le=600, description="How long a call of scheduler/execute or workflow/execute may take"
    )
