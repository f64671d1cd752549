"""Settings of schedules."""

from __future__ import annotations

from hanbeon.setting_fields import DeclaredFields, seconds


class ScheduleSettings(DeclaredFields):
    misfire_grace: float = seconds(60.0, "How late a schedule may fire before the fire counts as missed")
