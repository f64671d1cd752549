"""Operations of workflows, as data for the server, the client and the docs."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.errors import Changed, WrongState
from hanbeon.surfaces.operation import ClientCall, Operation
from hanbeon.surfaces.schema import Explanation
from hanbeon.surfaces.workflows import schemas
from hanbeon.surfaces.workflows.errors import WorkflowNotFound, WorkflowRunNotFound, WorkflowWrongState

_WORKFLOWS = "/api/workflows"
_WORKFLOW = f"{_WORKFLOWS}/{{id}}"
_RUNS = f"{_WORKFLOW}/runs"
_RUN = f"{_RUNS}/{{run_id}}"
_NO_WORKFLOW = (WorkflowNotFound,)
_NO_RUN = (WorkflowNotFound, WorkflowRunNotFound)

OPERATIONS = (
    Operation(
        *("POST", _WORKFLOWS, Need.WRITE, "create", "Save a workflow: a draft, or an active one, which runs."),
        request=schemas.NewWorkflow,
        query=schemas.RunWaitQuery,
        responses={201: schemas.Workflow},
        creates=True,
        by=True,
        versioned=True,
        location=f"{_WORKFLOWS}/{{result.id}}",
        links={"id": "$response.body#/id"},
    ),
    Operation(
        *("GET", _WORKFLOWS, Need.READ, "list", "List workflows, a page at a time."),
        request=schemas.WorkflowQuery,
        responses={200: schemas.WorkflowPage},
    ),
    Operation(
        *("GET", _WORKFLOW, Need.READ, "get", "Show a workflow, with its next run."),
        responses={200: schemas.Workflow},
        versioned=True,
        errors=_NO_WORKFLOW,
    ),
    Operation(
        *("PATCH", _WORKFLOW, Need.WRITE, "change", "Change a workflow; an active one is registered again."),
        request=schemas.WorkflowChanges,
        responses={200: schemas.Workflow},
        versioned=True,
        errors=(*_NO_WORKFLOW, Changed),
    ),
    Operation(
        *("DELETE", _WORKFLOW, Need.WRITE, "delete", "Delete a workflow that has no run under way."),
        responses={204: None},
        takes_version=True,
        errors=(*_NO_WORKFLOW, WorkflowWrongState, Changed),
    ),
    Operation(
        *("POST", f"{_WORKFLOW}/activate", Need.WRITE, "activate", "Make a workflow run by its schedule."),
        query=schemas.RunWaitQuery,
        responses={200: schemas.Workflow},
        versioned=True,
        idempotent=True,
        errors=_NO_WORKFLOW,
    ),
    Operation(
        *("POST", f"{_WORKFLOW}/pause", Need.WRITE, "pause", "Start no more runs of a workflow."),
        responses={200: schemas.Workflow},
        versioned=True,
        idempotent=True,
        errors=_NO_WORKFLOW,
    ),
    Operation(
        *("POST", f"{_WORKFLOW}/dry-run", Need.READ, "dry_run", "Render every message of a workflow, sending none."),
        request=schemas.DryRun,
        body_optional=True,
        responses={200: schemas.DryRunResult},
        idempotent=True,
        errors=_NO_WORKFLOW,
    ),
    Operation(
        *("GET", _RUNS, Need.READ, "runs", "List the runs of a workflow, newest first."),
        request=schemas.WorkflowRunQuery,
        responses={200: schemas.WorkflowRunPage},
        errors=_NO_WORKFLOW,
    ),
    Operation(
        *("GET", _RUN, Need.READ, "run_of", "Show a run with its steps."),
        responses={200: schemas.WorkflowRun},
        errors=_NO_RUN,
    ),
    Operation(
        *("POST", f"{_RUN}/cancel", Need.WRITE, "cancel", "Cancel a run; 202 while its step is being stopped."),
        responses={200: schemas.WorkflowRun, 202: schemas.WorkflowRun},
        accepted="is_unfinished",
        idempotent=True,
        errors=(*_NO_RUN, WrongState),
    ),
    Operation(
        *("POST", f"{_RUN}/retry", Need.WRITE, "retry", "Run a failed run again, from the step that failed."),
        responses={200: schemas.WorkflowRun},
        errors=(*_NO_RUN, WorkflowWrongState),
    ),
    Operation(
        *("GET", f"{_RUN}/explain", Need.READ, "explain", "Explain why a run does not go on."),
        responses={200: Explanation},
        errors=_NO_RUN,
    ),
    Operation(
        *("POST", "/api/workflow/execute", Need.RUN, "execute", "Run a workflow now; 202 past the time budget."),
        request=schemas.NewExecution,
        responses={200: schemas.Execution, 202: schemas.Execution},
        accepted="is_unfinished",
        creates=True,
        by=True,
        errors=_NO_WORKFLOW,
        client=ClientCall("workflows", "execute"),
    ),
    Operation(
        *("POST", "/api/scheduler/cron", Need.CRON, "cron", "Register the next runs of all active workflows."),
        responses={200: schemas.Registered},
        idempotent=True,
        client=ClientCall("workflows", "cron"),
    ),
    Operation(
        *("GET", "/api/scheduler/cron", Need.CRON, "cron", "Like POST, for crons that send GET."),
        responses={200: schemas.Registered},
        acts=True,
        client=ClientCall("workflows", "cron_by_get"),
    ),
    Operation(
        *(
            "GET",
            "/api/scheduler/execute",
            Need.CRON,
            "execute_due",
            "Run the workflows that are due, in this process.",
        ),
        responses={200: schemas.Executed},
        acts=True,
        client=ClientCall("workflows", "execute_due"),
    ),
    Operation(
        *("GET", "/api/scheduler/monitor", Need.MONITOR, "monitor", "Counts of runs, delays, next runs, failures."),
        polled=True,
        responses={200: schemas.Monitor},
        quiet=True,
        client=ClientCall("workflows", "monitor"),
    ),
)
