"""Retention of replays: they go by their age once no export of them is kept; files go when nobody has them."""

from __future__ import annotations

from hanbeon.store.operations.retention import AgedRows, Retention, counts
from hanbeon.surfaces.exports.replays.rows import prune_replays
from hanbeon.surfaces.exports.replays.unwanted_files import delete_unwanted

RETENTION = Retention(
    aged=(
        AgedRows("replays", prune_replays, counts("count_prunable_replays")),
        AgedRows("files", delete_unwanted),
    )
)
