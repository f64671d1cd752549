"""How long jobs of a task usually run, measured by the newest that succeeded."""

from __future__ import annotations

from collections.abc import Collection

from hanbeon.domain.lifecycle import State
from hanbeon.store.operations.job_indexes import JobSearch, index_for
from hanbeon.store.tx import Tx, to_json

_NEWEST = 100
_BEYOND = 2**63 - 1
_DONE = (State.SUCCEEDED,)


async def mean_runs_us(tx: Tx, queue: str, lanes: Collection[tuple[str, str]]) -> dict[tuple[str, str], int | None]:
    """Return the mean run of each task's jobs of a role in the queue; without any, of its jobs elsewhere, or None.

    `lanes`: tasks and roles. Elsewhere is looked for once for a task, however many roles it has.
    """
    found: dict[tuple[str, str], int | None] = {}
    elsewhere: dict[str, int | None] = {}
    for task, role in lanes:
        seqs = await _newest(tx, JobSearch(queue=queue, task=task, role=role, states=_DONE))
        if seqs:
            found[task, role] = await _mean(tx, seqs)
            continue
        if task not in elsewhere:
            elsewhere[task] = await _mean(tx, await _newest(tx, JobSearch(task=task, states=_DONE)))
        found[task, role] = elsewhere[task]
    return found


async def _newest(tx: Tx, search: JobSearch) -> Collection[int]:
    index = await index_for(tx, search)
    return await index(tx, _BEYOND, _NEWEST) if index is not None else ()


async def _mean(tx: Tx, seqs: Collection[int]) -> int | None:
    if not seqs:
        return None
    mean = (await tx.fetch("mean_run", to_json(seqs)))[0]["mean"]
    return None if mean is None else round(mean)
