"""How long jobs of a task usually run, measured by the newest that succeeded."""

from __future__ import annotations

from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.job_indexes import JobSearch, index_for
from hanbeon.store.tx import Tx, to_json

_NEWEST = 100
_BEYOND = 2**63 - 1


async def mean_run_us(tx: Tx, queue: str, task: str, role: str) -> int | None:
    """Return the mean run of the task's jobs of this role in the queue; without any, of its jobs elsewhere, or None."""
    done = (State.SUCCEEDED,)
    for search in (JobSearch(queue=queue, task=task, role=role, states=done), JobSearch(task=task, states=done)):
        index = await index_for(tx, search)
        seqs = await index(tx, _BEYOND, _NEWEST) if index is not None else ()
        if seqs:
            mean = (await tx.fetch("mean_run", to_json(seqs)))[0]["mean"]
            return None if mean is None else round(mean)
    return None
