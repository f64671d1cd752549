"""Tables and statements of workflows, with the words that they use, and what retention deletes."""

from __future__ import annotations

from pathlib import Path

from hanbeon.store.dialect import quoted
from hanbeon.store.operations.retention import Retention
from hanbeon.store.statements import StorePart
from hanbeon.surfaces.workflows.run_rows import ROWS_OF_RUNS
from hanbeon.surfaces.workflows.vocabulary import (
    DeliveryStatus,
    RunEnd,
    RunKind,
    StepStatus,
    StepType,
    WorkflowStatus,
)

PART = StorePart(
    Path(__file__).parent,
    {
        "workflow_statuses": quoted(WorkflowStatus),
        "run_kinds": quoted(RunKind),
        "run_ends": quoted(RunEnd),
        "step_types": quoted(StepType),
        "step_statuses": quoted(StepStatus),
        "delivery_statuses": quoted(DeliveryStatus),
        # The columns of the records of w, a workflow, of r, a run, and of s, a step.
        "workflow_columns": "w.seq, w.id, w.name, w.definition, w.shown, w.schedule_config, w.timezone, w.status, "
        "w.activation, w.activated_at, w.spent, w.run_id, w.next_time, w.last_time, w.declared_name, w.declared, "
        "w.version, w.created_by, w.created_at, w.changed_at, w.deleted_at",
        "run_columns": "r.job, r.run_id, r.workflow_id, r.kind, r.scheduled_time, r.variables, r.requested_by, "
        "r.definition, r.due_at, r.executed_at, r.ended_at, r.status, r.error_code, r.error_message, r.retry_count, "
        "r.late, r.skipped, r.created_at",
        "step_columns": "s.run_id, s.step_index, s.name, s.type, s.status, s.attempts, s.unknown, s.fence, s.output, "
        "s.error_code, s.error_message, s.step_job, s.until, s.started_at, s.ended_at",
    },
)


RETENTION = Retention(of_jobs=ROWS_OF_RUNS)
