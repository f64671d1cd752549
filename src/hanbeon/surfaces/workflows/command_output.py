"""Workflows as text."""

from __future__ import annotations

from rich.text import Text

from hanbeon.cli.output import Cell
from hanbeon.quotation import plain
from hanbeon.surfaces.workflows.schemas import Execution, Monitor, Workflow, WorkflowRun, WorkflowStep
from hanbeon.surfaces.workflows.vocabulary import RunStatus, StepStatus, WorkflowStatus

WORKFLOW_HEADINGS = ("workflow", "status", "mode", "next run", "name")
RUN_HEADINGS = ("run", "status", "scheduled", "late", "retries", "error")
STEP_HEADINGS = ("step", "type", "status", "attempts", "name", "error")
_STATUS = {WorkflowStatus.DRAFT: "dim", WorkflowStatus.ACTIVE: "green", WorkflowStatus.PAUSED: "yellow"}
_RUN = {
    RunStatus.PENDING: "cyan",
    RunStatus.RUNNING: "bold yellow",
    RunStatus.COMPLETED: "green",
    RunStatus.FAILED: "bold red",
}
_STEP = {StepStatus.COMPLETED: "green", StepStatus.FAILED: "bold red", StepStatus.RETRYING: "yellow"}


def workflow_row(workflow: Workflow) -> list[Cell]:
    return [
        workflow.id,
        Text(workflow.status.value, _STATUS[workflow.status]),
        str(workflow.schedule_config["mode"]),
        workflow.next_run_at or "",
        plain(workflow.name),
    ]


def workflow_facts(workflow: Workflow) -> list[tuple[str, Cell | None]]:
    return [
        ("workflow", workflow.id),
        ("name", plain(workflow.name)),
        ("status", Text(workflow.status.value, _STATUS[workflow.status])),
        ("mode", str(workflow.schedule_config["mode"])),
        ("time zone", workflow.timezone),
        ("next run", workflow.next_run_at),
        ("steps", ", ".join(f"{step['name']} ({step['type']})" for step in workflow.steps)),
    ]


def run_row(run: WorkflowRun) -> list[Cell]:
    return [
        run.run_id,
        Text(run.status.value, _RUN[run.status]),
        run.scheduled_time,
        "late" if run.late else "",
        str(run.retry_count),
        plain(run.error_message or ""),
    ]


def run_facts(run: WorkflowRun | Execution) -> list[tuple[str, Cell | None]]:
    return [
        ("run", run.run_id),
        ("status", Text(run.status.value, _RUN[run.status])),
        ("error", None if run.error_message is None else plain(run.error_message)),
    ]


def step_row(step: WorkflowStep) -> list[Cell]:
    return [
        str(step.index + 1),
        step.type.value,
        Text(step.status.value, _STEP.get(step.status, "")),
        str(step.attempts),
        plain(step.name),
        plain(step.error_message or ""),
    ]


def monitor_facts(found: Monitor) -> list[tuple[str, Cell | None]]:
    return [
        ("pending", str(found.pending)),
        ("running", str(found.running)),
        ("completed", str(found.completed)),
        ("failed", str(found.failed)),
        ("delayed", str(len(found.delayed)) if found.delayed else None),
        ("next", found.next[0].due_at if found.next else None),
        ("last failure", plain(found.recent_failures[0].error_message or "") if found.recent_failures else None),
    ]
