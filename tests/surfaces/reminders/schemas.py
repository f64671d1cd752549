"""Requests and results of reminders."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from hanbeon.surfaces.schema import Cursor, Name, Page, PageSize, PostBody, Request, Result
from tests.surfaces.reminders.vocabulary import ReminderStatus


class NewReminder(PostBody, frozen=True, kw_only=True):
    """Sent once, `delay` seconds from now; by default as the setting `reminder_delay` says."""

    text: Name
    delay: Annotated[int, Meta(ge=0, le=86_400)] | UnsetType = UNSET


class ReminderQuery(Request, frozen=True, kw_only=True):
    cursor: Cursor | UnsetType = UNSET
    limit: PageSize | UnsetType = UNSET


class Reminder(Result, frozen=True, kw_only=True):
    id: str
    text: str
    status: ReminderStatus
    due_at: str


class ReminderPage(Page[Reminder], frozen=True, kw_only=True):
    pass
