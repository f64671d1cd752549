"""The declaration of reminders."""

from __future__ import annotations

from hanbeon.surfaces.surface import Command, Surface

SURFACE = Surface(
    name="reminders",
    title="Texts that a task sends later.",
    service="tests.surfaces.reminders.service:Reminders",
    api="tests.surfaces.reminders.operations",
    errors="tests.surfaces.reminders.errors",
    settings="tests.surfaces.reminders.settings:ReminderSettings",
    commands=(
        Command("remember", "Keep a text to be sent again.", "Reminders", "tests.surfaces.reminders.commands:remember"),
    ),
    metrics="tests.surfaces.reminders.metrics:METRICS",
    store="tests.surfaces.reminders.store_part:PART",
    verify="tests.surfaces.reminders.verify:AUDIT",
    retention="tests.surfaces.reminders.store_part:RETENTION",
    docs="adding-a-surface.md",
)
WITHOUT_TABLE = SURFACE._replace(metrics=None, store=None, verify=None)
"""For tests in a process whose databases are those of all other tests."""
