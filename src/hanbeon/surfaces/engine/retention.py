"""Retention of the operator's surface: the record of actions."""

from __future__ import annotations

from hanbeon.store.operations.retention import AgedRows, Retention, deletes

RETENTION = Retention(aged=(AgedRows("actions", deletes("prune_actions")),))
