"""Where operators find a job that is a run of a workflow."""

from __future__ import annotations

from hanbeon.domain.job import JobRecord
from hanbeon.domain.workflows.literals import TASK
from hanbeon.surfaces.surface import JobPlace


def place_of_job(job: JobRecord) -> JobPlace | None:
    """A run is moved through its workflow, which goes on from its end."""
    if job.task != TASK:
        return None
    return JobPlace(f"/api/workflows/{job.work_item}/runs/{job.id}", moves=False)
