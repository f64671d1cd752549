"""The vocabulary of fires: their outcomes, and why some created no execution."""

from __future__ import annotations

import enum

from hanbeon.domain.totals import Total


class FireOutcome(enum.StrEnum):
    """The outcome of a scheduled fire."""

    CREATED = "created"
    SKIPPED = "skipped"
    MISSED = "missed"
    COALESCED = "coalesced"


class FireReason(enum.StrEnum):
    """The reason why a fire created no execution."""

    OVERLAP = "overlap"
    """An execution of the task was unfinished."""
    QUEUE_FULL = "queue_full"
    """One was unfinished, and another was already waiting."""
    LATE = "late"
    """No instance was running when it was due, and the schedule skips such fires."""
    LIMIT = "limit"
    """More were missed than are caught up on."""
    CAUGHT_UP = "caught_up"
    """A later missed fire stands for it."""
    CHANGED = "changed"
    """The schedule's times changed before this fire was processed."""
    PAUSED = "paused"
    DELETED = "deleted"


FIRES = Total("fires", "hanbeon_fires", "Fires of schedules by outcome", ("outcome", "reason"))
"""A line of the history that stands for several fires counts as that many."""
