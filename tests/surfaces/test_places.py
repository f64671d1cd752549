"""Jobs whose surface has deleted their owner: operators cancel them as jobs, since there is no other place to do it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from hanbeon import App, State
from hanbeon.errors import Conflict, MovedElsewhere
from hanbeon.surfaces.verify import verify
from hanbeon.testing import TestKit
from tests.surfaces.chains.chain_kit import LIBRARY, ChainKit, job
from tests.surfaces.workflows.workflow_kit import WorkflowKit

_STEP = {"queue": "chains"}
_WAIT = {"type": "wait", "minutes": 5}


async def test_a_run_of_a_deleted_workflow_is_cancelled_as_a_job(database_url: str) -> None:
    """There were such runs before everything that adds one kept its workflow."""
    async with TestKit(App(workflow_budget=0.1), database_url) as kit:
        words, engine = WorkflowKit(kit), kit.app.engine
        made = await words.make(_WAIT, status="active")
        (run,) = await words.runs(made)
        with pytest.raises(MovedElsewhere, match=f"/api/workflows/{made.id}"):
            await engine.cancel(run.run_id)
        filter: dict[str, Any] = {"queue": "workflows"}
        assert (await engine.bulk(action="cancel", filter=filter)).done == 0
        await words.script("UPDATE hanbeon.workflow SET deleted_at = 1")
        assert (await engine.bulk(action="cancel", filter=filter, dry_run=True)).matched == 1
        await engine.reprioritise(run.run_id, urgent=True)
        assert (await engine.cancel(run.run_id)).job.state is State.CANCELLED
        with pytest.raises(Conflict, match="whose owner was deleted, and cannot be moved"):
            await engine.retry(run.run_id)
        assert (await engine.bulk(action="retry", filter=filter)).done == 0
        assert (await verify(kit.app.store)).findings == ()


async def test_a_step_of_a_deleted_chain_is_not_moved_elsewhere(database_url: str) -> None:
    async with TestKit(App(chain_libraries=LIBRARY), database_url) as kit:
        words = ChainKit(kit)
        chain = await words.chain(job("a"))
        await words.chains.run(chain)
        (step,) = await kit.app.jobs(queue="chains")
        with pytest.raises(MovedElsewhere):
            await kit.app.engine.retry(step.id)
        await words.script("UPDATE hanbeon.chain SET state = 'READY', place = NULL, step_job = NULL")
        await words.chains.delete(chain)
        assert (await kit.app.engine.cancel(step.id)).job.state is State.CANCELLED
        with pytest.raises(Conflict, match="cannot be moved"):
            await kit.app.engine.retry(step.id)


async def test_app_moves_the_jobs_that_engine_refuses(database_url: str) -> None:
    """The App is for code that owns the installation, `app.engine` for operators: docs/engine.md."""
    async with TestKit(App(chain_libraries=LIBRARY), database_url) as kit:
        words, app = ChainKit(kit), kit.app
        chain = await words.chain(job("a"))
        await words.chains.run(chain)
        (step,) = await app.jobs(queue="chains")
        for refused in (partial(app.engine.cancel), partial(app.engine.reprioritise, urgent=True)):
            with pytest.raises(MovedElsewhere, match=f"/api/chains/{chain.queue_id}"):
                await refused(step.id)
        assert (await app.engine.bulk(action="cancel", filter=_STEP)).done == 0
        await app.reprioritise(step.id, urgent=True)
        assert (await app.job(step.id).record()).urgent
        assert await app.cancel_where(queue="chains") == [step.id]
        # The surface took part in the move.
        ended = await words.finish(chain)
        assert (ended.state, ended.operation_direction) == ("READY", "BACKWARD")
        assert (await verify(app.store)).findings == ()
        with pytest.raises(MovedElsewhere):
            await app.engine.retry(step.id)
