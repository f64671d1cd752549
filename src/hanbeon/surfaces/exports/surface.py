"""The declaration of exports."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="exports",
    title="Replays rendered to videos and thumbnails, with progress and downloads.",
    service="hanbeon.surfaces.exports.service:Exports",
    api="hanbeon.surfaces.exports.operations",
    pool="hanbeon.surfaces.exports.worker_pool:export_pool",
    verify="hanbeon.surfaces.exports.verify:AUDIT",
    queues=("hanbeon.domain.exports.jobs:QUEUE",),
    end_hook="hanbeon.store.operations.exports:HOOK",
    retention="hanbeon.surfaces.exports.retention:RETENTION",
    job_place="hanbeon.surfaces.exports.place:place_of_job",
    docs="exports.md",
)
