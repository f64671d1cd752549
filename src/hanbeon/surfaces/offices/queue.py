"""The queue of an office, whose name contains the office's id."""

from __future__ import annotations

from hanbeon.domain.reserved_queues import ReservedPrefix, reserve

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
