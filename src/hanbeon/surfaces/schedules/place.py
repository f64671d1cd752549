"""Where operators find a job that is an execution."""

from __future__ import annotations

from hanbeon.domain.executions import cause_of
from hanbeon.domain.job import JobRecord
from hanbeon.surfaces.surface import JobPlace


def place_of_job(job: JobRecord) -> JobPlace | None:
    return None if cause_of(job.idempotency_key) is None else JobPlace(f"/api/executions/{job.id}")
