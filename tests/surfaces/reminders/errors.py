"""Errors of reminders."""

from __future__ import annotations

from hanbeon.error_base import NotFound
from hanbeon.quotation import quoted
from hanbeon.rule import Rule


class ReminderNotFound(NotFound):
    """No reminder has that id."""

    code = "reminder_not_found"

    def __init__(self, reminder_id: str) -> None:
        super().__init__(Rule("reminder_not_found", id=quoted(reminder_id)))
