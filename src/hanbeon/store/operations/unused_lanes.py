"""Retention of lanes: those without jobs go when nobody can rely on them any more."""

from __future__ import annotations

from hanbeon.store.operations.job_search import first_after
from hanbeon.store.records import LANE_MASK
from hanbeon.store.tx import Tx, to_json

UNUSED_US = 24 * 3_600 * 1_000_000
"""How long a lane must be unused, beyond the retention of jobs. Caches rely on one for an hour at the most."""
_OLD_JOBS_MOST = 10_000


async def drop_unused_lanes(tx: Tx, older_than_us: int, limit: int) -> int:
    """Delete up to `limit` lanes without jobs; return how many.

    Whatever job a lane has that is unused for so long was created before `older_than_us` ago. Few of those are left:
    the rest has been pruned. So they are read, instead of the indexes of each state for every lane.
    """
    age = older_than_us + UNUSED_US
    unused = {row["n"] for row in await tx.fetch("unused_lanes", age, limit)}
    if not unused:
        return 0
    now: int = (await tx.fetch("now"))[0]["now"]
    old = await tx.fetch("lanes_of_old_jobs", await first_after(tx, now - older_than_us), _OLD_JOBS_MOST + 1)
    if len(old) > _OLD_JOBS_MOST:
        return 0
    needed = unused & {row["lane"] & LANE_MASK for row in old}
    if needed:
        await tx.fetch("touch_lanes", to_json(sorted(needed)))  # So that they are not looked at again every time.
    return len(await tx.fetch("drop_unused_lanes", to_json(sorted(unused - needed)), age))
