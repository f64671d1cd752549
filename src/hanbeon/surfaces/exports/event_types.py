"""Events of exports, in the engine's event log."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from hanbeon.domain.lifecycle import TERMINAL, State


class ExportEventType(enum.StrEnum):
    """The types that the owner's connections get."""

    PROGRESS = "job.progress"
    COMPLETED = "job.completed"
    FAILED = "job.failed"
    CANCELLED = "job.cancelled"


ENDS: Mapping[State, ExportEventType] = {
    State.SUCCEEDED: ExportEventType.COMPLETED,
    State.FAILED: ExportEventType.FAILED,
    State.CANCELLED: ExportEventType.CANCELLED,
}
"""The event of each end."""
assert set(ENDS) == TERMINAL
