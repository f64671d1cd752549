"""The trace contexts of jobs: rows only of jobs that were created while tracing was on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from hanbeon.domain.job import Claimed
from hanbeon.store.tx import Tx, in_parts, to_json

if TYPE_CHECKING:
    from hanbeon.store.operations.enqueue import Enqueued

_ROWS_AT_ONCE = 5_000


async def write_traces(tx: Tx, made: Sequence[Enqueued]) -> None:
    """Note who caused these jobs, if the transaction knows it. Those that existed already keep their own cause."""
    if tx.tracing is not None and tx.tracing.context is not None:
        await keep_traces(tx, {each.seq: tx.tracing.context.text for each in made if each.created and each.seq})


async def keep_traces(tx: Tx, contexts: Mapping[int, str]) -> None:
    """Write contexts of jobs that have none."""
    rows = [{"job": seq, "context": context} for seq, context in contexts.items()]
    for part in in_parts(rows, _ROWS_AT_ONCE):
        await tx.fetch("insert_traces", to_json(part))


async def inherit_traces(tx: Tx, predecessors: Mapping[str, str]) -> None:
    """Give jobs, by id, the causes of those that they follow, where they have none of their own."""
    if predecessors:
        rows = [{"id": job_id, "predecessor": before} for job_id, before in predecessors.items()]
        await tx.fetch("inherit_traces", to_json(rows))


async def traces_of(tx: Tx, jobs: Sequence[int]) -> dict[int, str]:
    return {row["job"]: row["context"] for row in await tx.fetch("traces_of", to_json(jobs))} if jobs else {}


async def with_traces(tx: Tx, jobs: Sequence[Claimed]) -> list[Claimed]:
    """Return claimed jobs with their contexts."""
    found = await traces_of(tx, [job.seq for job in jobs])
    return [msgspec.structs.replace(job, trace=found.get(job.seq)) for job in jobs]
