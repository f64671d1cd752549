"""Errors of workflows."""

from __future__ import annotations

from hanbeon.error_base import Conflict, NotFound
from hanbeon.rule import Rule


class WorkflowNotFound(NotFound):
    """No workflow has that id."""

    code = "workflow_not_found"

    def __init__(self, workflow_id: object) -> None:
        super().__init__(Rule("workflow_not_found", workflow=repr(str(workflow_id)[:40])))


class WorkflowRunNotFound(NotFound):
    """The workflow has no run with that id, or it was pruned."""

    code = "workflow_run_not_found"

    def __init__(self, run_id: object) -> None:
        super().__init__(Rule("workflow_run_not_found", run=repr(str(run_id)[:40])))


class WorkflowWrongState(Conflict):
    """The workflow, or its run, is in a state that does not allow this."""

    code = "workflow_wrong_state"
