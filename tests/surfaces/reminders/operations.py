"""Operations of reminders."""

from __future__ import annotations

from hanbeon.domain.access import Need
from hanbeon.errors import IdAlreadyUsed
from hanbeon.surfaces.operation import Operation
from tests.surfaces.reminders import schemas
from tests.surfaces.reminders.errors import ReminderNotFound

_REMINDERS = "/api/reminders"

OPERATIONS = (
    Operation(
        *("POST", _REMINDERS, Need.WRITE, "create", "Create a reminder."),
        request=schemas.NewReminder,
        responses={201: schemas.Reminder},
        creates=True,
        location=f"{_REMINDERS}/{{result.id}}",
        errors=(IdAlreadyUsed,),
    ),
    Operation(
        *("GET", _REMINDERS, Need.READ, "list", "List reminders, a page at a time."),
        request=schemas.ReminderQuery,
        responses={200: schemas.ReminderPage},
    ),
    Operation(
        *("GET", f"{_REMINDERS}/{{id}}", Need.READ, "get", "Show a reminder."),
        responses={200: schemas.Reminder},
        errors=(ReminderNotFound,),
    ),
)
