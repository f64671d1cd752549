"""The declaration of replays."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="replays",
    title="Recorded matches that users upload, to be exported.",
    service="hanbeon.surfaces.replays.service:Replays",
    api="hanbeon.surfaces.replays.operations",
    verify="hanbeon.surfaces.replays.verify:AUDIT",
    retention="hanbeon.surfaces.replays.retention:RETENTION",
    docs="exports.md",
)
