"""Repeated requests find what the first one made, whatever has happened to its conditions since."""

from __future__ import annotations

import datetime as dt
from typing import Any

import uuid_utils

from tests.surfaces.workflows.workflow_kit import WorkflowKit

_WAIT = {"type": "wait", "seconds": 1}


def _same_ids() -> Any:
    made = str(uuid_utils.uuid7())
    return lambda number: made


async def test_repeated_create_is_not_checked_again(workflow_kit: WorkflowKit) -> None:
    """The moment of a scheduled run passes between a request whose answer was lost and its repeat."""
    ids, clock = _same_ids(), workflow_kit.kit.clock
    moment = dt.datetime.fromtimestamp(clock.now_us() / 1_000_000 + 60, dt.UTC).isoformat()
    fields = {"schedule_config": {"mode": "scheduled", "scheduled_time": moment}, "status": "active", "new_id": ids}
    first = await workflow_kit.make(_WAIT, **fields)
    await clock.advance(120)
    assert (await workflow_kit.make(_WAIT, **fields)).id == first.id
    assert len((await workflow_kit.workflows.list()).items) == 1


async def test_repeated_execute_is_not_checked_again(workflow_kit: WorkflowKit) -> None:
    """The variables that it was given are no longer declared."""
    made = await workflow_kit.make(_WAIT, variables={"name": "x"})
    app, ids = workflow_kit.app, _same_ids()
    app.settings = app.settings.model_copy(update={"workflow_budget": 0.1})
    await workflow_kit.workflows.execute(made.id, variables={"name": "y"}, new_id=ids)
    await workflow_kit.workflows.change(made.id, variables={})
    await workflow_kit.workflows.execute(made.id, variables={"name": "y"}, new_id=ids)
    assert len(await workflow_kit.runs(made)) == 1
