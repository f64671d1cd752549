"""Retention of schedules: executions go with their jobs, fires by their age."""

from __future__ import annotations

from hanbeon.store.operations.retention import AgedRows, Retention, counts, deletes

RETENTION = Retention(
    of_jobs=("prune_executions",),
    aged=(AgedRows("fires", deletes("prune_fires"), counts("count_prunable_fires")),),
)
