"""The declaration of reminders."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="reminders",
    title="Texts that a task sends later.",
    service="tests.surfaces.reminders.service:Reminders",
    api="tests.surfaces.reminders.operations",
    retention="tests.surfaces.reminders.retention:RETENTION",
    docs="adding-a-surface.md",
)
