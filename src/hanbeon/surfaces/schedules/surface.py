"""The declaration of schedules."""

from __future__ import annotations

from hanbeon.surfaces.surface import Command, Surface

_SECTION = "Schedules"

SURFACE = Surface(
    name="schedules",
    title="Cron schedules and single instants, manual runs, and the executions of tasks.",
    service="hanbeon.surfaces.schedules.service:Schedules",
    api="hanbeon.surfaces.schedules.operations",
    errors="hanbeon.surfaces.schedules.errors",
    settings="hanbeon.surfaces.schedules.settings:ScheduleSettings",
    commands=(
        Command(
            "schedule",
            "Create, change, pause, preview and inspect schedules.",
            _SECTION,
            "hanbeon.surfaces.schedules.commands:schedule",
        ),
        Command(
            "run",
            "Run a task once, now, and print the execution's id.",
            _SECTION,
            "hanbeon.surfaces.schedules.execution_commands:run",
        ),
        Command(
            "executions",
            "List executions of schedules and manual runs, newest first.",
            _SECTION,
            "hanbeon.surfaces.schedules.execution_commands:executions",
        ),
    ),
    poller="hanbeon.surfaces.schedules.poller:SchedulePoller",
    metrics="hanbeon.surfaces.schedules.metrics:METRICS",
    store="hanbeon.surfaces.schedules.store_part:PART",
    verify="hanbeon.surfaces.schedules.verify:AUDIT",
    file="hanbeon.surfaces.schedules.file_section:SECTION",
    declarations="hanbeon.surfaces.schedules.declarations:DeclaredSchedules",
    retention="hanbeon.surfaces.schedules.store_part:RETENTION",
    job_place="hanbeon.surfaces.schedules.vocabulary:place_of_job",
    docs="schedules.md",
)
