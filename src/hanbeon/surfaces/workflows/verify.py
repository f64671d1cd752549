"""Audit of workflows: that registered runs exist, and that runs and their jobs agree; a part of `hanbeon verify`."""

from __future__ import annotations

from hanbeon.domain.audit.findings import Finding, FindingCode
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


async def verify_workflows(tx: Tx, now: int) -> Audited:
    """Check every workflow, and every run that is kept."""
    counted = (await tx.fetch("audit_workflow_counts"))[0]
    findings = []
    for row in await tx.fetch("audit_stranded_workflows"):
        message = f"workflow {row['id']} waits for run {row['run_id']}, which is {row['state'] or 'gone'}"
        findings.append(_finding(WorkflowCode.STRANDED_WORKFLOW, message, {"id": str(row["id"])}))
    for row in await tx.fetch("audit_workflow_runs"):
        message = f"run {row['run_id']} says {row['status'] or 'unfinished'}, its job {row['state'] or 'is gone'}"
        findings.append(_finding(WorkflowCode.BROKEN_RUN, message, {"run_id": str(row["run_id"])}))
    for row in await tx.fetch("audit_workflow_steps"):
        message = f"step {row['step_index']} of run {row['run_id']} began before the one before it had ended"
        findings.append(_finding(WorkflowCode.BROKEN_RUN, message, {"run_id": str(row["run_id"])}))
    return Audited({"workflows": counted["workflows"], "workflow_runs": counted["runs"]}, findings)


def _finding(code: WorkflowCode, message: str, row: dict[str, str]) -> Finding:
    return Finding(code=code, message=message, queue=QUEUE, rows=(row,))


AUDIT = SurfaceAudit(verify_workflows, (*WorkflowCode,))
