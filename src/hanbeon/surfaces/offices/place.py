"""Where operators find a job that offices created."""

from __future__ import annotations

from hanbeon.domain.job import JobRecord
from hanbeon.surfaces.offices.delivery.rules import is_test, kind_of_queue
from hanbeon.surfaces.offices.queue import office_of_queue
from hanbeon.surfaces.surface import JobPlace


def place_of_job(job: JobRecord) -> JobPlace | None:
    """The job of an office; a message to a listener has no path, because its queue does not name the office."""
    office_id = office_of_queue(job.queue)
    if office_id is not None:
        return JobPlace(f"/api/offices/{office_id}/jobs/{job.id}")
    return JobPlace(None) if kind_of_queue(job.queue) is not None or is_test(job.queue) else None
