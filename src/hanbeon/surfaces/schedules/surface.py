"""The declaration of schedules."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="schedules",
    title="Cron schedules and single instants, manual runs, and the executions of tasks.",
    service="hanbeon.surfaces.schedules.service:Schedules",
    api="hanbeon.surfaces.schedules.operations",
    metrics="hanbeon.surfaces.schedules.metrics:METRICS",
    verify="hanbeon.surfaces.schedules.verify:AUDIT",
    config="hanbeon.config.schedules:read_schedules",
    retention="hanbeon.surfaces.schedules.retention:RETENTION",
    job_place="hanbeon.surfaces.schedules.place:place_of_job",
    docs="schedules.md",
)
