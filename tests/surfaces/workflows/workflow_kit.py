"""Short words for tests of workflows."""

from __future__ import annotations

from typing import Any

from hanbeon import App
from hanbeon.store.database.postgres import PostgresDatabase
from hanbeon.surfaces.verify import verify
from hanbeon.surfaces.workflows.schemas import Workflow, WorkflowRun
from hanbeon.surfaces.workflows.service import Workflows
from hanbeon.testing import TestKit

IMMEDIATE = {"mode": "immediate"}


class WorkflowKit:
    """A test kit for workflows whose messages go to servers of the test."""

    def __init__(self, kit: TestKit) -> None:
        self.kit = kit

    @property
    def app(self) -> App:
        return self.kit.app

    @property
    def workflows(self) -> Workflows:
        return self.kit.app.workflows

    async def make(self, *steps: dict[str, Any], **fields: Any) -> Workflow:
        """Create a workflow; a draft that would run at once, unless the fields say otherwise."""
        return await self.workflows.create(
            **{"name": "알림", "schedule_config": IMMEDIATE, **fields}, steps=list(steps)
        )

    async def run(self, *steps: dict[str, Any], **fields: Any) -> WorkflowRun:
        """Create a workflow, activate it, and return its run when nothing is left to do."""
        made = await self.make(*steps, status="active", **fields)
        await self.kit.run_all()
        return (await self.runs(made))[0]

    async def runs(self, workflow: Workflow) -> list[WorkflowRun]:
        return (await self.workflows.runs(workflow)).items

    async def findings(self) -> list[str]:
        """The codes of what an audit of the database finds."""
        return [finding.code.value for finding in (await verify(self.app.store)).findings]

    async def script(self, text: str) -> list[Any]:
        """Read or change the tables behind the store's back."""
        store = self.app.store
        prefix = "hanbeon." if isinstance(store.database, PostgresDatabase) else "hanbeon_"
        async with store.transaction() as tx:
            return list(await tx.fetch(text.replace("hanbeon.", prefix)))


def message(target: str, body: str = "안녕하세요", **fields: Any) -> dict[str, Any]:
    return {"type": "message", "target": target, "body": body, **fields}


def statuses(run: WorkflowRun) -> list[tuple[str, str, int]]:
    """Name, status and attempts of each step that has begun."""
    return [(step.name, step.status.value, step.attempts) for step in run.steps]
