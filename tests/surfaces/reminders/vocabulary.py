"""The status of a reminder for every phase of its job."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from hanbeon.domain.lifecycle import Phase, total


class ReminderStatus(enum.StrEnum):
    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    CANCELLED = "cancelled"


STATUS: Mapping[Phase, ReminderStatus] = total(
    Phase,
    {
        Phase.PENDING: ReminderStatus.WAITING,
        Phase.READY: ReminderStatus.WAITING,
        Phase.RUNNING: ReminderStatus.SENDING,
        Phase.OVERDUE: ReminderStatus.SENDING,
        Phase.SUCCEEDED: ReminderStatus.SENT,
        Phase.FAILED: ReminderStatus.FAILED,
        Phase.CANCELLED: ReminderStatus.CANCELLED,
    },
)
