"""Settings of reminders."""

from __future__ import annotations

from hanbeon.setting_fields import DeclaredFields, Field


class ReminderSettings(DeclaredFields):
    reminder_delay: float = Field(0.0, ge=0, le=86_400, description="How long after its creation a reminder is sent")
