"""Retention of chains: runs go by their age, except the last of each chain."""

from __future__ import annotations

from hanbeon.store.operations.retention import AgedRows, Retention, counts
from hanbeon.store.tx import Tx
from hanbeon.surfaces.chains.rows import prune_runs

_RUNS_A_STEP = 100
"""A run has many steps."""


async def _delete(tx: Tx, older_than_us: int, limit: int) -> int:
    return await prune_runs(tx, older_than_us, min(limit, _RUNS_A_STEP))


RETENTION = Retention(aged=(AgedRows("chain_runs", _delete, counts("count_prunable_runs")),))
