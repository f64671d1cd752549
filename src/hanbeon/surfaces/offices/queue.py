"""The queue of an office, whose name contains the office's id, and the place of its jobs."""

from __future__ import annotations

from hanbeon.domain.job import JobRecord
from hanbeon.domain.reserved_queues import ReservedPrefix, reserve
from hanbeon.surfaces.offices.delivery.rules import is_test, kind_of_queue
from hanbeon.surfaces.surface import JobPlace

_QUEUE = reserve(
    ReservedPrefix(
        "office",
        "an office",
        "create jobs through the office, or use another queue",
        indexed=True,
        limits=("max_concurrent", "roles"),
        settings_path="/api/offices/{id}/scheduler/config",
    )
)


def queue_of_office(office_id: str) -> str:
    return _QUEUE.queue(office_id)


def office_of_queue(queue: str) -> str | None:
    """Return the id of the office that owns this queue, or None."""
    return _QUEUE.owner_id(queue)


def place_of_job(job: JobRecord) -> JobPlace | None:
    """The job of an office; a message to a listener has no path, because its queue does not name the office."""
    office_id = office_of_queue(job.queue)
    if office_id is not None:
        return JobPlace(f"/api/offices/{office_id}/jobs/{job.id}")
    return JobPlace(None) if kind_of_queue(job.queue) is not None or is_test(job.queue) else None
