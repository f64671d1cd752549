"""The declaration of the engine's surface."""

from __future__ import annotations

from hanbeon.surfaces.surface import Surface

SURFACE = Surface(
    name="engine",
    title="Every job of an installation for its operators; queues, workers, tokens and actions.",
    service="hanbeon.surfaces.engine.service:Engine",
    api="hanbeon.surfaces.engine.operations",
    retention="hanbeon.surfaces.engine.retention:RETENTION",
    docs="operators.md",
)
