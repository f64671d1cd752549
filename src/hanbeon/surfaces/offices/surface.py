"""The declaration of offices."""

from __future__ import annotations

from hanbeon.surfaces.surface import Command, Surface

SURFACE = Surface(
    name="offices",
    title="Graphs of jobs with slots per office and role, sessions that run them, webhooks and notifications.",
    service="hanbeon.surfaces.offices.service:Offices",
    api="hanbeon.surfaces.offices.operations",
    errors="hanbeon.surfaces.offices.errors",
    settings="hanbeon.surfaces.offices.settings:OfficeSettings",
    commands=(
        Command(
            "office",
            "Manage offices: their jobs, config, statistics and events.",
            "Offices",
            "hanbeon.surfaces.offices.commands:office",
        ),
    ),
    pool="hanbeon.surfaces.offices.delivery.worker_pool:outgoing",
    executor="hanbeon.surfaces.offices.delivery.executor:DeliveryExecutor",
    metrics="hanbeon.surfaces.offices.metrics:METRICS",
    store="hanbeon.surfaces.offices.store_part:PART",
    queues=("hanbeon.surfaces.offices.queue:queue_of_office", "hanbeon.surfaces.offices.delivery.rules:queue_of_tests"),
    job_place="hanbeon.surfaces.offices.queue:place_of_job",
    docs="offices.md",
)
