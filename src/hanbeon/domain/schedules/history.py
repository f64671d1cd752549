"""The words of schedules: why an execution exists, and what became of a fire."""

from __future__ import annotations

import enum


class ExecutionType(enum.StrEnum):
    SCHEDULE = "SCHEDULE"
    MANUAL = "MANUAL"


class FireOutcome(enum.StrEnum):
    """What became of a time at which a schedule was to fire."""

    CREATED = "created"
    SKIPPED = "skipped"
    MISSED = "missed"
    COALESCED = "coalesced"


class FireReason(enum.StrEnum):
    """Why a fire made no execution."""

    OVERLAP = "overlap"
    """An execution of the task was unfinished."""
    QUEUE_FULL = "queue_full"
    """One was unfinished, and another waited already."""
    LATE = "late"
    """Nobody was there when it was due, and the schedule says to let such fires pass."""
    LIMIT = "limit"
    """More were missed than are caught up with."""
    CAUGHT_UP = "caught_up"
    """A later one that was missed, too, stands for it."""
    CHANGED = "changed"
    """The schedule got other times before anybody saw to this one."""
    PAUSED = "paused"
    DELETED = "deleted"
