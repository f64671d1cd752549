"""Retention of the engine: executions go with their jobs, the record of actions by its age."""

from __future__ import annotations

from hanbeon.store.operations.retention import AgedRows, Retention, deletes

RETENTION = Retention(of_jobs=("prune_executions",), aged=(AgedRows("actions", deletes("prune_actions")),))
