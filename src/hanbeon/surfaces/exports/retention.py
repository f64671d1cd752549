"""Retention of exports: they go with their jobs, and their files with them."""

from __future__ import annotations

from hanbeon.store.operations.retention import Retention

RETENTION = Retention(of_jobs=("unwant_pruned_exports", "prune_exports"))
