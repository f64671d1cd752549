"""What is old goes, in small batches that block nobody."""

from __future__ import annotations

from hanbeon.store.tx import Tx, to_json


async def prune(tx: Tx, older_than_us: int, limit: int) -> int:
    """Delete up to `limit` finished jobs with their attempts and edges, and as many event batches; how many rows.

    A job that an unfinished one depends on is kept.
    """
    jobs = [row["seq"] for row in await tx.fetch("prunable_jobs", older_than_us, limit)]
    if jobs:
        # Asked again now that the rows are locked: a dependent enqueued since then has committed and can be seen.
        needed = {row["seq"] for row in await tx.fetch("depended_on", to_json(jobs))}
        jobs = [seq for seq in jobs if seq not in needed]
    if jobs:
        body = to_json(jobs)
        await tx.fetch("prune_edges", body)
        await tx.fetch("prune_attempts", body)
        await tx.fetch("prune_jobs", body)
    events = await tx.fetch("prune_events", older_than_us, limit)
    gone = await tx.fetch("prune_instances", older_than_us)
    return len(jobs) + len(events) + len(gone)
