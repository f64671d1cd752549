"""Where operators find a job that is a run of a workflow."""

from __future__ import annotations

from hanbeon.domain.job import JobRecord
from hanbeon.store.tx import Tx
from hanbeon.surfaces.surface import JobPlace
from hanbeon.surfaces.workflows.vocabulary import TASK


def place_of_job(job: JobRecord) -> JobPlace | None:
    """A run is moved through its workflow, which goes on from its end."""
    if job.task != TASK:
        return None
    workflow_id = str(job.work_item)

    async def exists(tx: Tx) -> bool:
        return any(row["deleted_at"] is None for row in await tx.fetch("workflow_by_id", workflow_id))

    return JobPlace(f"/api/workflows/{workflow_id}/runs/{job.id}", moves=False, exists=exists)
