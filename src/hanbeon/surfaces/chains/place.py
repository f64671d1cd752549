"""Where operators find a job that is a step of a chain."""

from __future__ import annotations

import msgspec

from hanbeon.domain.job import JobRecord
from hanbeon.store.tx import Tx
from hanbeon.surfaces.chains.steps import PREFIX, StepArgs
from hanbeon.surfaces.surface import JobPlace


def place_of_job(job: JobRecord) -> JobPlace | None:
    """A step is moved through its chain, which goes on from its end."""
    if not job.task.startswith(f"{PREFIX}:"):
        return None
    step = msgspec.json.decode(job.args, type=StepArgs)

    async def exists(tx: Tx) -> bool:
        return bool(await tx.fetch("chain_by_id", step.queue_id))

    return JobPlace(f"/api/chains/{step.queue_id}", moves=False, exists=exists)
