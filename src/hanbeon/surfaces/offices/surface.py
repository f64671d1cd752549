"""The declaration of offices."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="offices",
    title="Graphs of jobs with slots per office and role, sessions that run them, webhooks and notifications.",
    service="hanbeon.surfaces.offices.service:Offices",
    api="hanbeon.surfaces.offices.operations",
    pool="hanbeon.surfaces.offices.delivery.worker_pool:outgoing",
    executor="hanbeon.surfaces.offices.delivery.executor:DeliveryExecutor",
    queues=("hanbeon.domain.offices:queue_of_office", "hanbeon.domain.delivery:queue_of_tests"),
    job_place="hanbeon.surfaces.offices.place:place_of_job",
    docs="offices.md",
)
