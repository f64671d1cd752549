"""The declaration of replays."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="replays",
    title="Recorded matches that users upload, to be exported.",
    service="hanbeon.surfaces.exports.replays.service:Replays",
    api="hanbeon.surfaces.exports.replays.operations",
    verify="hanbeon.surfaces.exports.replays.verify:AUDIT",
    retention="hanbeon.surfaces.exports.replays.rows:RETENTION",
    docs="exports.md",
)
