"""The queue of an office, which carries its id in its name."""

from __future__ import annotations

from hanbeon.domain.job import is_id

_QUEUE = "office:"


def queue_of_office(office_id: str) -> str:
    return f"{_QUEUE}{office_id}"


def office_of_queue(queue: str) -> str | None:
    """The office whose queue this is, if it is one."""
    office_id = queue.removeprefix(_QUEUE)
    return office_id if office_id != queue and is_id(office_id) else None
