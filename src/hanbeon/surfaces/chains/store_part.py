"""Tables and statements of chains, with the words that they use, and what retention deletes."""

from __future__ import annotations

from pathlib import Path

from hanbeon.store.dialect import quoted
from hanbeon.store.operations.retention import AgedRows, Retention, counts
from hanbeon.store.statements import StorePart
from hanbeon.store.tx import Tx
from hanbeon.surfaces.chains.rows import prune_runs
from hanbeon.surfaces.chains.vocabulary import ChainState, Direction, OnBackwardFailure, OnUnknown

PART = StorePart(
    Path(__file__).parent,
    {
        "chain_states": quoted(ChainState),
        "chain_directions": quoted(Direction),
        "chain_unknowns": quoted(OnUnknown),
        "chain_backward_failures": quoted(OnBackwardFailure),
        # The columns of the record of c, a chain, and of b, a job of a chain.
        "chain_columns": "c.id, c.uid, c.queue_library, c.state, c.operation_direction, c.retries, c.on_unknown, "
        "c.on_backward_failure, c.job_number, c.context, c.run, c.steps, c.enqueued, c.place, c.step_job, "
        "c.created_by, c.created_at, c.changed_at",
        "chain_job_columns": "b.id, b.uid, b.chain_id, b.place, b.forward_operation, b.backward_operation, "
        "b.arguments, b.operation_library, b.expired_us, b.state, b.job_return",
        # The last run of a chain is kept as long as the chain: it shows what that run returned.
        "prunable_run": "r.ended_at < (SELECT hanbeon.now()) - $1 "
        "AND r.n < (SELECT c.run FROM hanbeon.chain AS c WHERE c.id = r.chain_id)",
    },
)


_RUNS_A_STEP = 100
"""A run has many steps."""


async def _delete(tx: Tx, older_than_us: int, limit: int) -> int:
    return await prune_runs(tx, older_than_us, min(limit, _RUNS_A_STEP))


RETENTION = Retention(aged=(AgedRows("chain_runs", _delete, counts("count_prunable_runs")),))
