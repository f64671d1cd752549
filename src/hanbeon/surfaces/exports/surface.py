"""The declaration of exports."""

from __future__ import annotations

from hanbeon.surfaces.surface import Command, Surface

SURFACE = Surface(
    name="exports",
    title="Replays rendered to videos and thumbnails, with progress and downloads.",
    service="hanbeon.surfaces.exports.service:Exports",
    api="hanbeon.surfaces.exports.operations",
    errors="hanbeon.surfaces.exports.errors",
    statuses=(
        ("invalid_output_path", 400),
        ("replay_quota_exceeded", 413),
        ("replay_too_large", 413),
        ("result_gone", 410),
    ),
    settings="hanbeon.surfaces.exports.settings:ExportSettings",
    commands=(
        Command(
            "export",
            "Upload replays, export them to videos and thumbnails, and download these.",
            "Exports",
            "hanbeon.surfaces.exports.commands:export",
        ),
        Command(
            "export-worker",
            "Render exports that come over Redis until SIGTERM or Ctrl-C.",
            "Servers and workers",
            "hanbeon.surfaces.exports.worker_command:export_worker",
        ),
    ),
    pool="hanbeon.surfaces.exports.worker_pool:export_pool",
    store="hanbeon.surfaces.exports.store_part:PART",
    verify="hanbeon.surfaces.exports.verify:AUDIT",
    queues=("hanbeon.surfaces.exports.jobs:QUEUE",),
    end_hook="hanbeon.surfaces.exports.rows:HOOK",
    retention="hanbeon.surfaces.exports.store_part:RETENTION",
    job_place="hanbeon.surfaces.exports.jobs:place_of_job",
    docs="exports.md",
)
