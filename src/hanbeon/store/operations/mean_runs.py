"""How long jobs of a lane usually run, measured by those that succeeded."""

from __future__ import annotations

from statistics import fmean

from hanbeon.store.records import lane_number
from hanbeon.store.tx import Tx, to_json

_NEWEST = 100
_LANES_MOST = 100


async def mean_run_us(tx: Tx, queue: str, task: str, role: str) -> int | None:
    """Return the mean run of the task's jobs of this role in the queue; without any, of its jobs elsewhere, or None."""
    own = await tx.fetch("queue_named", queue)
    for queue_id, of_role in ((own[0]["id"], role), (None, None)) if own else ():
        rows = await tx.fetch("search_lanes_of_task", _LANES_MOST, queue_id, task, of_role)
        lanes = to_json([{"lane": lane_number(row["queue_id"], row["n"])} for row in rows])
        means = [row["mean"] for row in await tx.fetch("mean_runs", lanes, _NEWEST)] if rows else []
        if measured := [float(mean) for mean in means if mean is not None]:
            return round(fmean(measured))
    return None
