"""Queues that are made with an office or with whom it tells, and go when nothing of theirs is left."""

from __future__ import annotations

from hanbeon.domain.delivery import is_test, kind_of_queue
from hanbeon.domain.offices import office_of_queue
from hanbeon.errors import InvalidInput


def check_not_owned(queue: str) -> None:
    """Only their owners put jobs into them: whoever remembers a lane of one that is gone would lose the job."""
    if ":" in queue and (office_of_queue(queue) or kind_of_queue(queue) or is_test(queue)):
        raise InvalidInput(
            f"{queue!r} belongs to an office, and goes with it; make jobs through the office, or use another queue",
            field="queue",
        )
