"""Audit of workflows: that registered runs exist, and that runs and their jobs agree; a part of `hanbeon verify`."""

from __future__ import annotations

from hanbeon.domain.audit.findings import Finding, FindingCode, Invariant
from hanbeon.service.verify import Audited, SurfaceAudit
from hanbeon.store.tx import Tx
from hanbeon.surfaces.workflows.vocabulary import QUEUE


class WorkflowCode(FindingCode):
    """The kinds of inconsistency of workflows, in the order in which they are reported."""

    STRANDED_WORKFLOW = "stranded_workflow", "a workflow waits for a registered run that has ended or is gone"
    BROKEN_RUN = (
        "broken_run",
        "a run of a workflow and its job disagree, or a step began before the one before it had ended",
    )


class WorkflowInvariant(Invariant):
    """The invariants of workflows, in the order of their codes."""

    RUN_REGISTERED = "run_registered", WorkflowCode.STRANDED_WORKFLOW, "a registered run has its unfinished job"
    RUN_STATUS = "run_status", WorkflowCode.BROKEN_RUN, "the status of a run is that of its job"
    STEP_ORDER = "step_order", WorkflowCode.BROKEN_RUN, "a step of a run begins after the one before it has ended"


async def verify_workflows(tx: Tx, now: int) -> Audited:
    """Check every workflow, and every run that is kept."""
    counted = (await tx.fetch("audit_workflow_counts"))[0]
    findings = []
    for row in await tx.fetch("audit_stranded_workflows"):
        message = f"workflow {row['id']} waits for run {row['run_id']}, which is {row['state'] or 'gone'}"
        findings.append(_finding(WorkflowInvariant.RUN_REGISTERED, message, {"id": str(row["id"])}))
    for row in await tx.fetch("audit_workflow_runs"):
        message = f"run {row['run_id']} says {row['status'] or 'unfinished'}, its job {row['state'] or 'is gone'}"
        findings.append(_finding(WorkflowInvariant.RUN_STATUS, message, {"run_id": str(row["run_id"])}))
    for row in await tx.fetch("audit_workflow_steps"):
        message = f"step {row['step_index']} of run {row['run_id']} began before the one before it had ended"
        findings.append(_finding(WorkflowInvariant.STEP_ORDER, message, {"run_id": str(row["run_id"])}))
    return Audited({"workflows": counted["workflows"], "workflow_runs": counted["runs"]}, findings)


def _finding(rule: WorkflowInvariant, message: str, row: dict[str, str]) -> Finding:
    return rule.broken(message, queue=QUEUE, rows=(row,))


AUDIT = SurfaceAudit(verify_workflows, (*WorkflowInvariant,), QUEUE)
