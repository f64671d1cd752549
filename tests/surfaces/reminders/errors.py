"""Errors of reminders."""

from __future__ import annotations

from hanbeon.error_base import NotFound


class ReminderNotFound(NotFound):
    """No reminder has that id."""

    code = "reminder_not_found"

    def __init__(self, reminder_id: str) -> None:
        super().__init__(f"there is no reminder {reminder_id!r}")
