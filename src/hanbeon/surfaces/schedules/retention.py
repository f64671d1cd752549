"""Retention of schedules: fires go by their age."""

from __future__ import annotations

from hanbeon.store.operations.retention import AgedRows, Retention, counts, deletes

RETENTION = Retention(
    aged=(AgedRows("fires", deletes("prune_fires"), counts("count_prunable_fires")),),
)
