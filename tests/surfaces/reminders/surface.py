"""The declaration of reminders."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface
from tests.surfaces.reminders.operations import OPERATIONS

SURFACE = Surface(
    name="reminders",
    title="Texts that a task sends later.",
    service="tests.surfaces.reminders.service:Reminders",
    operations=OPERATIONS,
    retention="tests.surfaces.reminders.retention:RETENTION",
    docs="adding-a-surface.md",
)
